package shell

import "strings"

// role is what a program does with its operands.
type role int

const (
	roleNone role = iota
	// roleReads: every operand is a file that is read.
	roleReads
	// roleWrites: every operand is created, changed or deleted.
	roleWrites
	// roleCopies: the last operand is written, the others are read.
	roleCopies
	// roleMoves: every operand is written, the last one included.
	roleMoves
	// roleScript: the first operand is a pattern or a program, the others are read.
	roleScript
	// roleMode: the first operand is a mode or an owner, the others are written.
	roleMode
	// roleURLs: every operand is a URL, even without a scheme.
	roleURLs
	// roleHost: the first operand is a host.
	roleHost
	// roleHosts: every operand is a host.
	roleHosts
	// roleRemote: operands are "host:path" or local paths, the last one written.
	roleRemote
	// roleArchive: the first operand is written from the others.
	roleArchive
	// roleText: operands are text that is only shown or compared.
	roleText
	// roleFirst: the first operand is written; others are none of our concern.
	roleFirst
)

// program says how one program reads its arguments.
type program struct {
	// options are those that take a value: "-o:w" one that names a file written,
	// ":r" read, ":@" read if it starts with "@", ":u" a URL, ":h" a host.
	options  string
	operands role
	// long says that options of several letters have a single dash.
	long bool
	// strict says that options end at the first operand.
	strict bool
	// plus says that options may start with "+".
	plus bool
}

var undescribed program

// takes says whether an option has a value, and what that names.
func (p *program) takes(name string) (what byte, ok bool) {
	rest := p.options
	for {
		i := strings.Index(rest, name)
		if i < 0 {
			return 0, false
		}
		end := i + len(name)
		starts := i == 0 || rest[i-1] == ' '
		switch {
		case starts && (end == len(rest) || rest[end] == ' '):
			return 0, true
		case starts && rest[end] == ':':
			return rest[end+1], true
		}
		rest = rest[end:]
	}
}

// described is what is known of a program, or of its family: python for python3.11.
func described(name string) *program {
	if p := programs[name]; p != nil {
		return p
	}
	if p := programs[family(name)]; p != nil {
		return p
	}
	return &undescribed
}

// programs are those whose files and hosts are known.
var programs = map[string]*program{
	// files
	"rm":         {operands: roleWrites, options: "--interactive"},
	"rmdir":      {operands: roleWrites},
	"unlink":     {operands: roleWrites},
	"shred":      {operands: roleWrites, options: "-n --iterations -s --size --random-source:r"},
	"srm":        {operands: roleWrites},
	"wipe":       {operands: roleWrites},
	"trash":      {operands: roleWrites},
	"truncate":   {operands: roleWrites, options: "-s --size -r:r --reference:r"},
	"touch":      {operands: roleWrites, options: "-d --date -t -r:r --reference:r"},
	"mkdir":      {operands: roleWrites, options: "-m --mode"},
	"mkfifo":     {operands: roleWrites, options: "-m --mode"},
	"mknod":      {operands: roleFirst, options: "-m --mode"},
	"mktemp":     {options: "-p:w --suffix"},
	"mv":         {operands: roleMoves, options: "-t:w --target-directory:w -S --suffix"},
	"rename":     {operands: roleNone},
	"cp":         {operands: roleCopies, options: "-t:w --target-directory:w -S --suffix"},
	"install":    {operands: roleCopies, options: "-t:w --target-directory:w -m --mode -o --owner -g --group -S --suffix"},
	"ln":         {operands: roleCopies, options: "-t:w --target-directory:w -S --suffix"},
	"link":       {operands: roleCopies},
	"tee":        {operands: roleWrites},
	"sponge":     {operands: roleWrites},
	"chmod":      {operands: roleMode, options: "--reference:r"},
	"chown":      {operands: roleMode, options: "--reference:r --from"},
	"chgrp":      {operands: roleMode, options: "--reference:r"},
	"chattr":     {operands: roleWrites, options: "-v -p", plus: true},
	"chcon":      {operands: roleMode, options: "-u -r -t -l --reference:r"},
	"setfacl":    {operands: roleWrites, options: "-m -x -M:r -X:r --modify --remove --restore:r"},
	"setcap":     {operands: roleMode},
	"setfattr":   {operands: roleWrites, options: "-n --name -v --value -x --remove"},
	"patch":      {operands: roleFirst, options: "-i:r --input:r -p --strip -d:w --directory:w -o:w --output:w -r:w"},
	"fallocate":  {operands: roleWrites, options: "-l --length -o --offset"},
	"split":      {operands: roleFirst, options: "-b -l -n -a --bytes --lines"},
	"csplit":     {operands: roleFirst, options: "-f -n -b"},
	"crontab":    {operands: roleReads, options: "-u"},
	"at":         {options: "-f:r -t -q"},
	"swapoff":    {operands: roleWrites},
	"mkswap":     {operands: roleWrites, options: "-L -U"},
	"wipefs":     {operands: roleWrites, options: "-o -t -p"},
	"fdisk":      {operands: roleWrites, options: "-b -c -C -H -S -t -u"},
	"sfdisk":     {operands: roleFirst, options: "-N -o -X"},
	"gdisk":      {operands: roleWrites},
	"sgdisk":     {operands: roleWrites, options: "-n -t -c -d"},
	"cfdisk":     {operands: roleWrites},
	"parted":     {operands: roleFirst, options: "-a"},
	"blkdiscard": {operands: roleWrites, options: "-o -l -p"},
	"hdparm":     {operands: roleWrites},
	"mkfs":       {operands: roleFirst, options: "-t --type"},
	"cryptsetup": {options: "-c -s -h --key-file:r"},

	// text
	"cat":         {operands: roleReads},
	"tac":         {operands: roleReads},
	"nl":          {operands: roleReads, options: "-b -w -s -v -n"},
	"head":        {operands: roleReads, options: "-n -c --lines --bytes"},
	"tail":        {operands: roleReads, options: "-n -c -s --pid --lines --bytes"},
	"less":        {operands: roleReads, options: "-p -P -o:w"},
	"more":        {operands: roleReads},
	"most":        {operands: roleReads},
	"bat":         {operands: roleReads, options: "-l --language -r --line-range --style --theme"},
	"batcat":      {operands: roleReads, options: "-l --language -r --line-range --style --theme"},
	"rev":         {operands: roleReads},
	"sort":        {operands: roleReads, options: "-k -t -o:w -S -T --key --output:w --field-separator --compress-program"},
	"uniq":        {operands: roleCopies, options: "-f -s -w"},
	"cut":         {operands: roleReads, options: "-d -f -c -b --delimiter --fields --output-delimiter"},
	"paste":       {operands: roleReads, options: "-d --delimiters"},
	"join":        {operands: roleReads, options: "-t -1 -2 -j -o -a -v -e"},
	"comm":        {operands: roleReads},
	"diff":        {operands: roleReads, options: "-U -C -x --exclude -I --label -W"},
	"cmp":         {operands: roleReads, options: "-n -i"},
	"wc":          {operands: roleReads},
	"od":          {operands: roleReads, options: "-A -t -N -j -w"},
	"xxd":         {operands: roleCopies, options: "-l -s -c -g -o"},
	"hexdump":     {operands: roleReads, options: "-n -s -e -f:r"},
	"hd":          {operands: roleReads, options: "-n -s"},
	"strings":     {operands: roleReads, options: "-n -t -e"},
	"base64":      {operands: roleReads, options: "-w --wrap -i:r -o:w"},
	"base32":      {operands: roleReads, options: "-w --wrap"},
	"uuencode":    {operands: roleFirst},
	"fold":        {operands: roleReads, options: "-w"},
	"fmt":         {operands: roleReads, options: "-w"},
	"column":      {operands: roleReads, options: "-s -t -N -o"},
	"expand":      {operands: roleReads, options: "-t"},
	"iconv":       {operands: roleReads, options: "-f -t -o:w"},
	"md5sum":      {operands: roleReads},
	"sha1sum":     {operands: roleReads},
	"sha256sum":   {operands: roleReads},
	"sha512sum":   {operands: roleReads},
	"shasum":      {operands: roleReads, options: "-a"},
	"cksum":       {operands: roleReads},
	"file":        {operands: roleReads, options: "-m -f:r"},
	"stat":        {operands: roleReads, options: "-c -f --format --printf"},
	"readlink":    {operands: roleReads},
	"realpath":    {operands: roleReads},
	"ls":          {operands: roleReads, options: "-I --ignore -w --hide"},
	"exa":         {operands: roleReads},
	"eza":         {operands: roleReads},
	"tree":        {operands: roleReads, options: "-L -I -P -o:w"},
	"du":          {operands: roleReads, options: "-d --max-depth --exclude -B"},
	"vim":         {operands: roleFirst, options: "-c --cmd -S:r -u:r"},
	"vi":          {operands: roleFirst, options: "-c --cmd -S:r -u:r"},
	"nvim":        {operands: roleFirst, options: "-c --cmd -S:r -u:r"},
	"ex":          {operands: roleFirst, options: "-c"},
	"ed":          {operands: roleFirst, options: "-p"},
	"nano":        {operands: roleFirst},
	"emacs":       {operands: roleFirst, options: "--eval -l:r"},
	"grep":        {operands: roleScript, options: "-e -f:r -m -A -B -C -D -d --include --exclude --exclude-dir --regexp --file:r --max-count --color"},
	"egrep":       {operands: roleScript, options: "-e -f:r -m -A -B -C --include --exclude --exclude-dir"},
	"fgrep":       {operands: roleScript, options: "-e -f:r -m -A -B -C --include --exclude --exclude-dir"},
	"zgrep":       {operands: roleScript, options: "-e -f:r -m -A -B -C"},
	"rg":          {operands: roleScript, options: "-e -f:r -g -t -T -m -A -B -C -r -j --glob --type --regexp --max-count --replace"},
	"ag":          {operands: roleScript, options: "-G -m -A -B -C --ignore"},
	"sed":         {operands: roleScript, options: "-e -f:r --expression --file:r -l"},
	"awk":         {operands: roleScript, options: "-F -v -f:r --field-separator --assign --file:r"},
	"gawk":        {operands: roleScript, options: "-F -v -f:r -e --field-separator --assign --file:r"},
	"mawk":        {operands: roleScript, options: "-F -v -f:r"},
	"nawk":        {operands: roleScript, options: "-F -v -f:r"},
	"jq":          {operands: roleScript, options: "--indent --tab -f:r --from-file:r"},
	"yq":          {operands: roleScript},
	"tr":          {operands: roleText},
	"echo":        {operands: roleText, strict: true},
	"printf":      {operands: roleText, strict: true, options: "-v"},
	"test":        {operands: roleText, long: true},
	"[":           {operands: roleText, long: true},
	"expr":        {operands: roleText, strict: true},
	"seq":         {operands: roleText, options: "-s -f"},
	"true":        {operands: roleText},
	"false":       {operands: roleText},
	":":           {operands: roleText},
	"logger":      {operands: roleText, options: "-t -p -f:r -n:h"},
	"notify-send": {operands: roleText},
	"which":       {operands: roleText},
	"type":        {operands: roleText},
	"basename":    {operands: roleText, options: "-s"},
	"dirname":     {operands: roleText},
	"man":         {operands: roleText},
	"kill":        {operands: roleText, long: true, options: "-s -n"},
	"read":        {operands: roleText, options: "-p -d -n -N -t -u -a -i"},
	"gh":          {operands: roleText, options: "-t -b --title --body -R --repo -F:r --body-file:r"},
	"alias":       {operands: roleText},
	"trap":        {operands: roleText, strict: true},

	// archives
	"tar":     {options: "-f -C --file --directory -T:r -X:r --exclude --to-command --checkpoint-action --checkpoint -I --use-compress-program --strip-components --transform -s -b --rsh-command -F --info-script --new-volume-script"},
	"unzip":   {operands: roleReads, options: "-d:w -x"},
	"zip":     {operands: roleArchive, options: "-i -x -T --unzip-command"},
	"gzip":    {operands: roleWrites, options: "-S"},
	"gunzip":  {operands: roleWrites, options: "-S"},
	"bzip2":   {operands: roleWrites},
	"bunzip2": {operands: roleWrites},
	"xz":      {operands: roleWrites, options: "-T"},
	"unxz":    {operands: roleWrites},
	"zstd":    {operands: roleReads, options: "-o:w -T"},
	"zcat":    {operands: roleReads},
	"bzcat":   {operands: roleReads},
	"xzcat":   {operands: roleReads},
	"7z":      {operands: roleReads},
	"cpio":    {options: "-F:r -O:w -I:r -D --directory"},
	"openssl": {long: true, options: "-in:r -out:w -key:r -inkey:r -pass -k -K -iv -connect:h -CAfile:r -cert:r -kfile:r -days -subj -newkey -keyout:w -md"},
	"gpg":     {operands: roleReads, options: "-o:w --output:w -r --recipient -u --local-user --homedir:r --passphrase --passphrase-file:r --keyserver:h --recv-keys"},
	"age":     {operands: roleReads, options: "-o:w --output:w -r --recipient -i:r --identity:r -R:r"},

	// network
	"curl": {operands: roleURLs, options: "-o:w --output:w -d:@ --data:@ --data-binary:@ --data-raw --data-urlencode:@ --json:@ -T:r --upload-file:r -F:@ --form:@ --form-string " +
		"-H:@ --header:@ -X --request -u --user -A --user-agent -e --referer -b --cookie -c:w --cookie-jar:w -K:r --config:r -x:h --proxy:h --url:u -m --max-time --connect-timeout " +
		"--retry --retry-delay -w --write-out -E:r --cert:r --key:r --cacert:r --resolve --connect-to -D:w --dump-header:w --limit-rate -C -r --range --output-dir:w --netrc-file:r " +
		"--socks5:h --socks5-hostname:h --interface --doh-url:u --trace:w --trace-ascii:w --stderr:w -Y -y -z -Q -t -P --unix-socket:r"},
	"wget": {operands: roleURLs, options: "-O:w --output-document:w -o:w --output-file:w -a:w -P:w --directory-prefix:w --post-file:r --body-file:r --post-data --body-data --header -U --user-agent " +
		"-i:r --input-file:r -t --tries -T --timeout -w --wait -e --execute --user --password -l --level -A -R -D --method --referer --load-cookies:r --save-cookies:w --use-askpass --ca-certificate:r"},
	"fetch":       {operands: roleURLs, options: "-o:w"},
	"aria2c":      {operands: roleURLs, options: "-o:w -d:w --out:w --dir:w -x -s -i:r"},
	"http":        {options: "-o:w --output:w -a --auth -p -s"},
	"https":       {options: "-o:w --output:w -a --auth -p -s"},
	"xh":          {options: "-o:w --output:w -a --auth"},
	"lynx":        {operands: roleURLs},
	"w3m":         {operands: roleURLs, options: "-T"},
	"ssh":         {strict: true, options: "-i:r -p -l -o -F:r -E:w -J:h -L -R -D -b -c -m -e -I -O -Q -S -W -w -B"},
	"ssh-copy-id": {operands: roleHosts, options: "-i:r -p -o -F:r"},
	"ssh-add":     {operands: roleReads, options: "-t -E"},
	"ssh-keygen":  {options: "-f -t -b -C -N -P -O -I -s:r -n -V -F -R"},
	"sshpass":     {strict: true, options: "-p -f:r -d -P"},
	"scp":         {operands: roleRemote, options: "-i:r -P -o -F:r -c -l -S -J:h"},
	"sftp":        {operands: roleHosts, options: "-i:r -P -o -F:r -b:r -B -c -l -S -J:h"},
	"rsync":       {operands: roleRemote, options: "-e --rsh --exclude --include --exclude-from:r --include-from:r --files-from:r -f --filter --bwlimit --port --password-file:r --log-file:w --rsync-path --timeout --backup-dir:w --link-dest:r"},
	"rclone":      {operands: roleRemote},
	"nc":          {operands: roleHost, options: "-p -s -w -i -X -x:h -q -e -c -g -G -O -I -T -V"},
	"ncat":        {operands: roleHost, options: "-p -s -w -i -e -c -o:w --exec --sh-exec --proxy:h --lua-exec"},
	"netcat":      {operands: roleHost, options: "-p -s -w -i -q -e -c"},
	"telnet":      {operands: roleHost, options: "-l -b"},
	"ping":        {operands: roleHost, options: "-c -i -W -w -s -I -t"},
	"ping6":       {operands: roleHost, options: "-c -i -W -w -s -I -t"},
	"traceroute":  {operands: roleHost},
	"mtr":         {operands: roleHost, options: "-c -i"},
	"dig":         {options: "-p -t -x:h -f:r -k:r", plus: true},
	"nslookup":    {operands: roleHosts, long: true},
	"host":        {operands: roleHosts, options: "-t -c -N -R -W"},
	"whois":       {operands: roleText, options: "-h:h -p"},
	"nmap":        {operands: roleHosts, options: "-p -oN:w -oX:w -iL:r --script"},
	"ftp":         {operands: roleHost},
	"lftp":        {operands: roleHost, options: "-e -c -u -p -f:r"},
	"tftp":        {operands: roleHost, options: "-c -m"},
	"mosh":        {operands: roleHost},
	"psql":        {options: "-h:h --host:h -p --port -U --username -d --dbname -c --command -f:r --file:r -o:w --output:w -v"},
	"pg_dump":     {options: "-h:h --host:h -p -U -d -f:w --file:w -t -n -F"},
	"mysql":       {options: "-h:h --host:h -P --port -u --user -e --execute -D --database"},
	"mysqldump":   {options: "-h:h --host:h -P -u --user -r:w"},
	"mariadb":     {options: "-h:h --host:h -P --port -u --user -e --execute -D --database"},
	"redis-cli":   {options: "-h:h -p -a -n -u:u --pass"},
	"mongosh":     {options: "--host:h --port --eval -f:r -u -p"},
	"mongo":       {options: "--host:h --port --eval -u -p"},
	"sqlite3":     {operands: roleFirst, long: true, options: "-cmd -init:r -separator"},

	// version control, builds, packages, engines
	"git":     {options: "-C -c --git-dir --work-tree --namespace -m --message -F:r --file:r --author --date --config-env --upload-pack --receive-pack --exec-path -b --branch --depth --format --pretty"},
	"make":    {options: "-C -f:r --file:r --makefile:r -I -o -W --directory"},
	"docker":  {options: dockerOptions},
	"podman":  {options: dockerOptions},
	"nerdctl": {options: dockerOptions},
	"kubectl": {options: "-n --namespace --context --kubeconfig:r -f:r --filename:r -l --selector -o --output -c --container --cluster --user --as"},
	"oc":      {options: "-n --namespace --context --kubeconfig:r -f:r --filename:r -l --selector -o --output -c --container"},
	"gcc":     {operands: roleReads, long: true, options: "-o:w -I -L -D -x"},
	"cc":      {operands: roleReads, long: true, options: "-o:w -I -L -D -x"},
	"go":      {long: true, options: "-o:w -run -tags -ldflags -bench -count -C -exec -toolexec -timeout -coverprofile:w"},
	"gofmt":   {operands: roleReads, options: "-r"},
	"find":    {long: true},
	"java":    {long: true, options: "-jar:r -cp -classpath"},

	// wrappers
	"sudo":             {strict: true, options: "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -r --role -t --type -T --command-timeout -U --other-user"},
	"doas":             {strict: true, options: "-u -C"},
	"busybox":          {strict: true},
	"toybox":           {strict: true},
	"su":               {options: "-c --command --session-command -s --shell -g --group -G -w"},
	"runuser":          {options: "-c --command --session-command -s --shell -g --group -G -u --user -w"},
	"env":              {strict: true, options: "-u --unset -C --chdir -S --split-string -a --argv0 -P"},
	"nohup":            {strict: true},
	"timeout":          {strict: true, options: "-k --kill-after -s --signal"},
	"nice":             {strict: true, options: "-n --adjustment"},
	"ionice":           {strict: true, options: "-c --class -n --classdata -p --pid -P -u"},
	"chrt":             {strict: true, options: "-T -P -D"},
	"taskset":          {strict: true},
	"setsid":           {strict: true},
	"stdbuf":           {strict: true, options: "-i --input -o --output -e --error"},
	"unbuffer":         {strict: true},
	"time":             {strict: true, options: "-f --format -o:w --output:w"},
	"command":          {strict: true},
	"builtin":          {strict: true},
	"exec":             {strict: true, options: "-a"},
	"xargs":            {strict: true, options: "-I -n --max-args -L --max-lines -P --max-procs -d --delimiter -a:r --arg-file:r -E -s --max-chars --replace"},
	"parallel":         {strict: true, options: "-j --jobs -N -n -I --colsep -a:r --arg-file:r -S --sshlogin --delay --timeout"},
	"chroot":           {strict: true, options: "--userspec --groups"},
	"unshare":          {strict: true, options: "-S -G -R --root -w --wd --setuid --setgid"},
	"nsenter":          {strict: true, options: "-t --target -S --setuid -G --setgid"},
	"flock":            {strict: true, options: "-c --command -w --timeout -E"},
	"watch":            {strict: true, options: "-n --interval"},
	"script":           {options: "-c --command -I -O:w -B -E -o -t"},
	"strace":           {strict: true, options: "-e -o:w -p -s -u -E"},
	"ltrace":           {strict: true, options: "-e -o:w -p -s -u"},
	"systemd-run":      {strict: true, options: "-u --unit -p --property -E --setenv --uid --gid -M -H --slice --on-calendar --working-directory"},
	"firejail":         {strict: true},
	"proot":            {strict: true, options: "-r -b -w"},
	"fakeroot":         {strict: true},
	"dbus-run-session": {strict: true},
	"caffeinate":       {strict: true},
	"setpriv":          {strict: true, options: "--reuid --regid --groups"},
	"gosu":             {strict: true},
	"cpulimit":         {strict: true, options: "-l -p"},
	"prlimit":          {strict: true, options: "-p"},
	"pkexec":           {strict: true, options: "--user"},
	"xvfb-run":         {strict: true, options: "-s -n -e -f -p -w"},
	"cgexec":           {strict: true, options: "-g"},
	"setarch":          {strict: true},
	"linux64":          {strict: true},
	"linux32":          {strict: true},
	"numactl":          {strict: true, options: "-N -m -C -i -p"},
	"rlwrap":           {strict: true},
	"catchsegv":        {strict: true},
	"daemonize":        {strict: true, options: "-c -e -o -p -l -u -E"},
	"chronic":          {strict: true},
	"entr":             {strict: true},
	"ssh-agent":        {strict: true, options: "-a -t -P"},
	"cross-env":        {strict: true},
	"nix-shell":        {options: "--run --command -p"},

	// interpreters
	"bash":      shellProgram,
	"sh":        shellProgram,
	"dash":      shellProgram,
	"zsh":       shellProgram,
	"ksh":       shellProgram,
	"mksh":      shellProgram,
	"ash":       shellProgram,
	"rbash":     shellProgram,
	"fish":      shellProgram,
	"python":    {strict: true, options: "-c -m -W -X"},
	"perl":      {strict: true, options: "-e -E -I -M -m -F"},
	"ruby":      {strict: true, options: "-e -I -r -C"},
	"node":      {strict: true, options: "-e --eval -p --print -r --require"},
	"php":       {strict: true, options: "-r -d -c -f:r"},
	"lua":       {strict: true, options: "-e -l"},
	"Rscript":   {strict: true, options: "-e"},
	"osascript": {strict: true, options: "-e -l"},
}

var shellProgram = &program{strict: true, plus: true, options: "-o -O +o +O --rcfile:r --init-file:r"}

const dockerOptions = "-v --volume --mount -e --env --env-file:r -w --workdir -u --user -p --publish --name --network --net --entrypoint --file:r --tag -H --host --context " +
	"-l --label -m --memory --cpus --device --cap-add --cap-drop --security-opt --platform --pull --restart --ipc --pid --hostname -h --add-host --build-arg --target --tmpfs --ulimit --log-driver --gpus"
