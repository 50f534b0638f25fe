package value

// The features of a shell text.
const (
	FeaturePipe                = "pipe"
	FeatureCommandSubstitution = "command_substitution"
	FeatureProcessSubstitution = "process_substitution"
	FeatureEval                = "eval"
	FeatureHeredoc             = "heredoc"
	FeatureRedirect            = "redirect"
	FeatureBackground          = "background"
	// FeatureDecodeAndRun: decoded text (base64, xxd, openssl enc -d, rev, tr …) reaches an interpreter.
	FeatureDecodeAndRun = "decode_and_run"
	// FeatureDownloadAndRun: text fetched from the network reaches an interpreter,
	// by pipe, substitution, or a file that is then run.
	FeatureDownloadAndRun = "download_and_run"
	// FeatureInlineProgram: an interpreter gets its program in the text (python -c, perl -e, a here-document).
	FeatureInlineProgram = "inline_program"
	// FeatureUnreadProgram: one of these is not read, or hides what it does: its facts are not in the Code.
	FeatureUnreadProgram = "unread_program"
	// FeatureReadProgram: one of these is in a language of which only harmless programs are read, and is one.
	FeatureReadProgram = "read_program"
	// FeatureNetworkRedirect: a redirection to /dev/tcp or /dev/udp.
	FeatureNetworkRedirect = "network_redirect"
	// FeatureForkBomb: a function that calls itself twice, in the background or in a pipe.
	FeatureForkBomb = "fork_bomb"
	FeatureFunction = "function"
	// FeatureEndlessStarts: a loop without an end that starts something in each round and waits for nothing.
	FeatureEndlessStarts = "endless_starts"
	FeatureSubshell      = "subshell"
	FeatureLoop          = "loop"
)

// The features of a Python program.
const (
	FeatureDynamicExec       = "dynamic_exec"
	FeatureDynamicImport     = "dynamic_import"
	FeatureCtypes            = "ctypes"
	FeatureNetwork           = "network"
	FeatureKillsEverything   = "kills_everything"
	FeatureWidensPermissions = "widens_permissions"
	FeatureSetsSetuid        = "sets_setuid"
	FeatureSendsEnvironment  = "sends_environment"
	FeatureSendsFiles        = "sends_files"
	// FeatureShowsEnvironment: the environment, or a secret of it by its name, is printed.
	FeatureShowsEnvironment = "shows_environment"
	// FeatureSendsMachine: what describes the machine or its user goes to another host.
	FeatureSendsMachine = "sends_machine"
	// FeatureTriesPasswords: passwords of a file are tried one after another.
	FeatureTriesPasswords = "tries_passwords"
	// FeatureSweepsHosts: the addresses of a network are tried one after another.
	FeatureSweepsHosts = "sweeps_hosts"
)

// OfEveryText are those that count in a shell text that runs the program, too.
var OfEveryText = map[string]bool{FeatureKillsEverything: true, FeatureWidensPermissions: true, FeatureSetsSetuid: true,
	FeatureSendsEnvironment: true, FeatureSendsFiles: true, FeatureShowsEnvironment: true, FeatureForkBomb: true,
	FeatureSendsMachine: true, FeatureTriesPasswords: true, FeatureSweepsHosts: true}
