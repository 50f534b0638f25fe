package document

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

func item(key, value *ast.Term) [2]*ast.Term { return [2]*ast.Term{key, value} }

func object(entries ...[2]*ast.Term) *ast.Term { return ast.NewTerm(ast.NewObject(entries...)) }

// list makes an array with one allocation for all of its terms.
func list(words []string) *ast.Term {
	if len(words) == 0 {
		return ast.InternedEmptyArray
	}
	terms := make([]ast.Term, len(words))
	refs := make([]*ast.Term, len(words))
	for i, w := range words {
		terms[i].Value = ast.String(valid(w))
		refs[i] = &terms[i]
	}
	return ast.ArrayTerm(refs...)
}

func text(s string) *ast.Term {
	if s == "" {
		return ast.InternedEmptyString
	}
	return ast.StringTerm(valid(s))
}

// valid replaces bytes that are no UTF-8, as JSON would.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// word is text that is one of a few.
func word(s string) *ast.Term {
	if i := slices.IndexFunc(words, func(t *ast.Term) bool { return string(t.Value.(ast.String)) == s }); i >= 0 {
		return words[i]
	}
	return text(s)
}

var words = []*ast.Term{
	ast.StringTerm(string(bailiff.Terminal)), ast.StringTerm(string(bailiff.ExecuteCode)), ast.StringTerm(string(bailiff.Process)),
	ast.StringTerm(string(bailiff.Call)), ast.StringTerm(string(bailiff.MCP)),
}

// The keys of the input document, made once.
var (
	keyAction     = ast.StringTerm("action")
	keyArgs       = ast.StringTerm("args")
	keyArguments  = ast.StringTerm("arguments")
	keyArgv       = ast.StringTerm("argv")
	keyAssigns    = ast.StringTerm("assigns")
	keyAgent      = ast.StringTerm("agent")
	keyAvailable  = ast.StringTerm("available")
	keyBackend    = ast.StringTerm("backend")
	keyBackground = ast.StringTerm("background")
	keyCaller     = ast.StringTerm("caller")
	keyCalls      = ast.StringTerm("calls")
	keyChatID     = ast.StringTerm("chat_id")
	keyChatType   = ast.StringTerm("chat_type")
	keyCode       = ast.StringTerm("code")
	keyCommand    = ast.StringTerm("command")
	keyComplete   = ast.StringTerm("complete")
	keyData       = ast.StringTerm("data")
	keyDate       = ast.StringTerm("date")
	keyDepth      = ast.StringTerm("depth")
	keyEnv        = ast.StringTerm("env")
	keyFeatures   = ast.StringTerm("features")
	keyFiles      = ast.StringTerm("files")
	keySHA256     = ast.StringTerm("sha256")
	keyFlags      = ast.StringTerm("flags")
	keyHosts      = ast.StringTerm("hosts")
	keyID         = ast.StringTerm("id")
	keyImports    = ast.StringTerm("imports")
	keyIsolated   = ast.StringTerm("isolated")
	keyKinds      = ast.StringTerm("kinds")
	keyLanguage   = ast.StringTerm("language")
	keyLoses      = ast.StringTerm("loses")
	keyTouches    = ast.StringTerm("touches")
	keyName       = ast.StringTerm("name")
	keyOperands   = ast.StringTerm("operands")
	keyParent     = ast.StringTerm("parent")
	keyParsed     = ast.StringTerm("parsed")
	keyPath       = ast.StringTerm("path")
	keyPipesTo    = ast.StringTerm("pipes_to")
	keyPlatform   = ast.StringTerm("platform")
	keyProcessID  = ast.StringTerm("process_id")
	keyProfile    = ast.StringTerm("profile")
	keyProgram    = ast.StringTerm("program")
	keyPrograms   = ast.StringTerm("programs")
	keyReads      = ast.StringTerm("reads")
	keyReady      = ast.StringTerm("ready")
	keyRequested  = ast.StringTerm("requested")
	keyReset      = ast.StringTerm("reset")
	keyServer     = ast.StringTerm("server")
	keySession    = ast.StringTerm("session")
	keySettings   = ast.StringTerm("settings")
	keyStdin      = ast.StringTerm("stdin")
	keyStrings    = ast.StringTerm("strings")
	keySupposed   = ast.StringTerm("supposed")
	keyText       = ast.StringTerm("text")
	keyThreadID   = ast.StringTerm("thread_id")
	KeyTime       = ast.StringTerm("time")
	keyTimeout    = ast.StringTerm("timeout")
	keyTool       = ast.StringTerm("tool")
	keyJob        = ast.StringTerm("job")
	keyBudgets    = ast.StringTerm("budgets")
	keyUsed       = ast.StringTerm("used")
	keyRequester  = ast.StringTerm("requester")
	keyPerson     = ast.StringTerm("person")
	keyGroups     = ast.StringTerm("groups")
	keyOwn        = ast.StringTerm("own")
	keyUnattended = ast.StringTerm("unattended")
	keyUnknown    = ast.StringTerm("unknown")
	keyHeld       = ast.StringTerm("held")
	keyUnsought   = ast.StringTerm("unsought")
	keyUserID     = ast.StringTerm("user_id")
	keyUserName   = ast.StringTerm("user_name")
	keyUndo       = ast.StringTerm("undo")
	keyVariables  = ast.StringTerm("variables")
	keyWorkdir    = ast.StringTerm("workdir")
	keyWrappers   = ast.StringTerm("wrappers")
	keyWrites     = ast.StringTerm("writes")
)
