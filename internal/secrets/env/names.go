package env

import "strings"

// secretWords occur in the names of variables whose values are secret.
var secretWords = []string{
	"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDS", "AUTH",
	"DSN", "WEBHOOK", "BEARER", "COOKIE", "PRIVATE", "DATABASE_URL",
}

// places are names that look secret and hold the path of something: writing
// that path down is harmless, and hiding it would spoil the record.
var places = map[string]bool{"SSH_AUTH_SOCK": true, "XAUTHORITY": true, "GOOGLE_APPLICATION_CREDENTIALS": true}

func looksSecret(name string) bool {
	name = strings.ToUpper(name)
	if places[name] || strings.HasSuffix(name, "_FILE") || strings.HasSuffix(name, "_PATH") {
		return false
	}
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "_PASS")
}
