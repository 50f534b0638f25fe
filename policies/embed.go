// Package policies holds the law that bailiff ships: Rego files that stock OPA
// can read, the tables that security teams edit daily, and the JSON Schema of
// the input document. It is all data; the package has no logic.
package policies

import "embed"

// FS holds the policies, their tests, data.yaml, what is known of programs and schema/input.json.
//
//go:embed *.rego data.yaml bailiff/programs schema/input.json
var FS embed.FS
