package spelling

import "testing"

func TestTheWordThatWasLikelyMeantIsNamed(t *testing.T) {
	valid := []string{"session", "args", "caller"}
	for word, want := range map[string]string{
		"sesion":    `unknown field, nearest valid field is "session"`,
		"arg":       `unknown field, nearest valid field is "args"`,
		"weather":   `unknown field, nearest valid field is "caller"`,
		"SESSION":   `unknown field, nearest valid field is "session"`,
		"ses_si.ON": `unknown field, nearest valid field is "session"`,
		"x":         "unknown field, valid are args, caller, session",
	} {
		if got := Unknown("field", word, valid); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
	if valid[0] != "session" {
		t.Error("the list of valid words was changed")
	}
}

func TestCaseAndPunctuationTellNoWordsApart(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"APIKEY", "api_key"}, {"Api-Key", "api_key"}, {"api.key", "api_key"}, {"sshx", "ssh"}, {"s-s-h-x", ""}, {"ssh-2", ""}, {"--", ""},
	} {
		if got := Nearest(c.word, []string{"ssh", "api_key"}, 1); got != c.want {
			t.Errorf("nearest to %s is %q, want %q", c.word, got, c.want)
		}
	}
}
