package programs

import "testing"

func TestVariablesAreKnownByTheirNamesAndEndings(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Variable{
		"PAGER":       {Holds: HeldCommand},
		"PSQL_PAGER":  {Holds: HeldCommand, Family: true},
		"TAR_OPTIONS": {Holds: HeldOptions, Program: "tar"},
		"VIMINIT":     {Holds: HeldCommands, Program: "vim"},
		"PS1":         {Holds: HeldPrompt},
		"BASH_ENV":    {Holds: HeldScript},
		"CC":          {Holds: HeldProgram},
		"PSQLRC":      {Holds: HeldFiles, Program: "psql"},
		"_PAGER":      {Holds: HeldCommand},
		"FOO":         {},
		"FOO_BAR":     {Family: true},
		"":            {},
	} {
		if got := VariableOf(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestFaultyGrammarOfVariablesIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"X: ", "X: thing", "X: command tar", "X: options", "X: options tar zip", "X: files", "X: [a]", "- X"} {
		if _, err := readVariables([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
