package settings_test

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

func TestOnlyAHostThatIsThisMachineIsALoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "localhost.example.com": false, "127.0.0.1.example.com": false,
	} {
		if got := settings.IsLoopback(host); got != want {
			t.Errorf("that %q is a loopback is %v", host, got)
		}
	}
}
