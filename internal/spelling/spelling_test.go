package spelling

import "testing"

func TestTheWordThatWasLikelyMeantIsNamed(t *testing.T) {
	valid := []string{"session", "args", "caller"}
	for word, want := range map[string]string{
		"sesion":  `unknown field, nearest valid field is "session"`,
		"arg":     `unknown field, nearest valid field is "args"`,
		"weather": `unknown field, nearest valid field is "caller"`,
		"x":       "unknown field, valid are args, caller, session",
	} {
		if got := Unknown("field", word, valid); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
	if valid[0] != "session" {
		t.Error("the list of valid words was changed")
	}
}
