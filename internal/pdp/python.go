package pdp

import "github.com/bailiff-dev/bailiff/internal/facts"

type place struct{ Workdir, Home string }

func python(string, place) facts.Code { return facts.Code{Language: "python"} }

func shell(text string, _ place) facts.Command { return facts.Command{Text: text} }
