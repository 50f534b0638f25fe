package pdp

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"go.yaml.in/yaml/v3"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// checkTables lists what is wrong in the tables, the programs and the packs, as all files together make them.
func (p *parsed) checkTables() (faults Faults) {
	root, _ := p.data["bailiff"].(map[string]any)
	words := p.words(nil)
	if all, ok := root["tables"]; ok {
		for _, f := range tables.Check(all, words) {
			faults = append(faults, p.faultAt(append([]string{"bailiff", "tables"}, f.At...), f.Wrong))
		}
	}
	if all, ok := root["programs"]; ok {
		for _, f := range tables.CheckPrograms(all, root["tables"], words) {
			faults = append(faults, p.faultAt(append([]string{"bailiff", "programs"}, f.At...), f.Wrong))
		}
	}
	if all, ok := root["packs"]; ok {
		for _, f := range tables.CheckPacks(all) {
			faults = append(faults, p.faultAt(append([]string{"bailiff", "packs"}, f.At...), f.Wrong))
		}
	}
	return faults.sorted()
}

// unjudgedWays lists the platforms with a way out of policies that judge no connection. Such
// policies come into force nevertheless, as those of before there were connections do:
// sandboxes reach nothing.
func (p *parsed) unjudgedWays() (faults Faults) {
	network, _ := p.tables()["network"].(map[string]any)
	platforms, _ := network["platforms"].(map[string]any)
	for name, row := range platforms {
		if fields, ok := row.(map[string]any); ok && fields["network"] == backends.Egress {
			faults = append(faults, p.faultAt([]string{"bailiff", "tables", "network", "platforms", name, "network"},
				"the platform has the network egress, but no rule bailiff.connection judges its connections, so that it reaches nothing: "+
					"want connection.rego of this bailiff beside the other policies, or another network"))
		}
	}
	return faults.sorted()
}

// tablesRoot is where the tables lie.
var tablesRoot = ast.MustParseRef("data.bailiff.tables")

// checkLookups lists the tables that rules look up and no data has: without an error such a
// rule would forbid nothing. The compiler is that of the rules which decide.
func (p *parsed) checkLookups(compiler *ast.Compiler) (faults Faults) {
	lookedUp := lookedUp(compiler)
	for name, where := range lookedUp {
		if p.hasTable(compiler, name) {
			continue
		}
		fault := Fault{where.File, where.Row, fmt.Sprintf("the rules look up bailiff.tables.%s, which no data holds: %s", name,
			p.suggestTable(name))}
		if meant := p.misspelt(name, lookedUp); meant != "" {
			fault = p.faultAt([]string{"bailiff", "tables", meant},
				fmt.Sprintf("no rule looks this table up, and %q, which rules do look up, is missing: write that", name))
		}
		faults = append(faults, fault)
	}
	return faults.sorted()
}

// suggestTable says how to mend the lack of a table.
func (p *parsed) suggestTable(name string) string {
	there := slices.Sorted(maps.Keys(p.tables()))
	if meant := spelling.Nearest(name, there, len(name)/3+1); meant != "" {
		return fmt.Sprintf("want %s, or the table there, if only as {}", meant)
	}
	return "want it there, if only as {}"
}

// lookedUp are the names of tables that rules name, each with a place where one does.
func lookedUp(compiler *ast.Compiler) map[string]*ast.Location {
	places := map[string]*ast.Location{}
	for _, module := range compiler.Modules {
		ast.WalkRefs(module, func(ref ast.Ref) bool {
			if len(ref) <= len(tablesRoot) || !ref.HasPrefix(tablesRoot) {
				return false
			}
			name, fixed := ref[len(tablesRoot)].Value.(ast.String)
			if known, where := places[string(name)], ref[0].Location; fixed && where != nil && (known == nil || where.Compare(known) < 0) {
				places[string(name)] = where
			}
			return false
		})
	}
	return places
}

// hasTable says whether data has a table, or a rule makes it.
func (p *parsed) hasTable(compiler *ast.Compiler, name string) bool {
	_, held := p.tables()[name]
	return held || len(compiler.GetRules(tablesRoot.Append(ast.StringTerm(name)))) > 0
}

// misspelt is the table that no rule looks up and whose name is almost the given one.
func (p *parsed) misspelt(name string, lookedUp map[string]*ast.Location) string {
	var idle []string
	for table := range p.tables() {
		if lookedUp[table] == nil {
			idle = append(idle, table)
		}
	}
	slices.Sort(idle)
	return spelling.Nearest(name, idle, len(name)/3+1)
}

func (p *parsed) tables() map[string]any {
	root, _ := p.data["bailiff"].(map[string]any)
	tables, _ := root["tables"].(map[string]any)
	return tables
}

// faultAt names the file and line that lead furthest to a value.
func (p *parsed) faultAt(at []string, wrong string) Fault {
	name, line := p.placeOf(at)
	return Fault{name, line, strings.Join(at, ".") + ": " + wrong}
}

// placeOf is the file and line that lead furthest to a value.
func (p *parsed) placeOf(at []string) (name string, line int) {
	furthest := 0
	for _, f := range p.files {
		if !f.isData() {
			continue
		}
		if begins, found := f.find(at); found > furthest {
			name, line, furthest = f.name, begins, found
		}
	}
	return name, line
}

// find follows keys into a file of data as far as they lead, and says how many
// that are.
func (f file) find(at []string) (line, found int) {
	var document yaml.Node
	if yaml.Unmarshal(f.text, &document) != nil || len(document.Content) == 0 {
		return 0, 0
	}
	if folder := path.Dir(f.place); folder != "." {
		names := strings.Split(folder, "/")
		if len(names) > len(at) || !slices.Equal(names, at[:len(names)]) {
			return 0, 0
		}
		found = len(names)
	}
	here := document.Content[0]
	for line = here.Line; found < len(at); found++ {
		next, begins := entry(here, at[found])
		if next == nil {
			break
		}
		here, line = next, begins
	}
	return line, found
}

// entry is the value of a key, or the element of a list by its number, and where
// it begins.
func entry(n *yaml.Node, name string) (*yaml.Node, int) {
	switch n.Kind {
	case yaml.AliasNode:
		return entry(n.Alias, name)
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	}
	return nil, 0
}
