package pdp

import "github.com/bailiff-dev/bailiff/internal/facts"

func python(string, facts.Place) facts.Code { return facts.Code{Language: "python"} }
