package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// examineTokens looks at what programs of the operators' come to the console by. A file that this user may not read is kept
// from them, as it must be.
func (d Doctor) examineTokens(all *diagnosis.Checks) {
	shared := config.SharedSecrets(d.Config.Operator.Tokens)
	for _, t := range d.Config.Operator.Tokens {
		name := "token " + t.Name
		_, err := t.Read()
		switch {
		case errors.Is(err, fs.ErrPermission):
			all.Fine(name, "This user may not read it.")
		case err != nil:
			all.Fail(name, sentence(err), "The program is not served while that is so: do what the line says, and send SIGHUP.")
		case shared[t.Name] != "":
			all.Fail(name, "It has the same secret as "+shared[t.Name]+", so that neither is served.",
				"Write another secret into "+t.File+", and send SIGHUP.")
		default:
			examineScopes(all, name, t)
		}
	}
}

// oldest is how long a token, which has no end of its own, may be used before doctor says so.
const oldest = 366 * 24 * time.Hour

// examineScopes looks at a token that is served.
func examineScopes(all *diagnosis.Checks, name string, t config.Token) {
	lacksOne := slices.ContainsFunc(api.TokenScopes(), func(scope string) bool { return !slices.Contains(t.Scopes, scope) })
	age := ageOf(t.File)
	switch {
	case !lacksOne:
		all.Doubt(name, "It has every scope that there is.", "Give it in operator.tokens those alone that the program needs.")
	case slices.Contains(t.Scopes, api.TokenRevokes) && !slices.Contains(t.Scopes, api.TokenReadsApprovals):
		all.Doubt(name, "It may revoke grants (grants.write), and may not see which there are.",
			"Give it approvals.read too, unless its program learns the ids of grants elsewhere.")
	case age > oldest:
		all.Doubt(name, fmt.Sprintf("Its secret has been the same for %d days.", int(age.Hours()/24)),
			"Write another into "+t.File+" and into the program's settings, and send SIGHUP.")
	default:
		all.Fine(name, "It is kept from others, for %s.", strings.Join(t.Scopes, ", "))
	}
}

// ageOf is how long ago a file was written; zero if that cannot be told.
func ageOf(path string) time.Duration {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return time.Since(info.ModTime())
}
