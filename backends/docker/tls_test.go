package docker

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

func TestCertificatesAreLookedAtBeforeTheyAreUsed(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	expired := ours.files
	expired.Cert, expired.Key = ours.write(t, "expired", ours.issue(t, "client", -time.Hour))
	for _, c := range []struct {
		name  string
		files TLS
		says  map[string]string
	}{
		{"as they should be", ours.files, nil},
		{"those that are not there", TLS{"/ca", "/cert", "/key"}, map[string]string{"ca": "there is no /ca", "cert": "there is no /cert",
			"key": "there is no /key"}},
		{"a key as the authority", TLS{CA: ours.files.Key}, map[string]string{"ca": "holds no certificate", "cert": "there is no",
			"key": "there is no"}},
		{"the key of another", TLS{ours.files.CA, ours.files.Cert, others.files.Key},
			map[string]string{"key": "is not that of the certificate"}},
		{"an expired one", expired, map[string]string{"key": "has expired: renew it"}},
	} {
		for _, s := range (&Config{TLS: c.files}).Settings() {
			if s.Key != "tls" {
				continue
			}
			for _, file := range s.Into.([]settings.Setting) {
				err, want := file.Present(*file.Into.(*string)), c.says[file.Key]
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("of %s it says of %s %v, want %q", c.name, file.Key, err, want)
				}
			}
		}
	}
}
