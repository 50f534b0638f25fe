package policyset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// checkTables lists what is wrong in the tables, the programs and the packs, as all files together make them.
func (p *Set) checkTables() (faults source.Faults) {
	root, _ := p.Data["bailiff"].(map[string]any)
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
	return faults.Sorted()
}

// StrangersInRoles lists what is wrong in the table of roles by the people of a configuration.
func (p *Set) StrangersInRoles(people tables.People) (faults source.Faults) {
	for _, f := range tables.CheckRoles(p.Tables(), people) {
		faults = append(faults, p.faultAt(append([]string{"bailiff", "tables"}, f.At...), f.Wrong))
	}
	return faults.Sorted()
}

// UnjudgedWays lists the platforms with a way out of policies that judge no connection. Such
// policies come into force nevertheless, as those of before there were connections do:
// sandboxes reach nothing.
func (p *Set) UnjudgedWays() (faults source.Faults) {
	network, _ := p.Tables()["network"].(map[string]any)
	platforms, _ := network["platforms"].(map[string]any)
	for name, row := range platforms {
		if fields, ok := row.(map[string]any); ok && fields["network"] == backends.Egress {
			faults = append(faults, p.faultAt([]string{"bailiff", "tables", "network", "platforms", name, "network"},
				"the platform has the network egress, but no rule bailiff.connection judges its connections, so that it reaches nothing: "+
					"want connection.rego of this bailiff beside the other policies, or another network"))
		}
	}
	return faults.Sorted()
}

// tablesRoot is where the tables lie.
var tablesRoot = ast.MustParseRef("data.bailiff.tables")

// checkLookups lists the tables that rules look up and no data has: without an error such a
// rule would forbid nothing. The compiler is that of the rules which decide.
func (p *Set) checkLookups(compiler *ast.Compiler) (faults source.Faults) {
	lookedUp := lookedUp(compiler)
	for name, where := range lookedUp {
		if p.hasTable(compiler, name) {
			continue
		}
		fault := source.FaultAt(where, fmt.Sprintf("the rules look up bailiff.tables.%s, which no data holds: %s", name,
			p.suggestTable(name)))
		if meant := p.misspelt(name, lookedUp); meant != "" {
			fault = p.faultAt([]string{"bailiff", "tables", meant},
				fmt.Sprintf("no rule looks this table up, and %q, which rules do look up, is missing: write that", name))
		}
		faults = append(faults, fault)
	}
	return faults.Sorted()
}

// suggestTable says how to mend the lack of a table.
func (p *Set) suggestTable(name string) string {
	there := slices.Sorted(maps.Keys(p.Tables()))
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
func (p *Set) hasTable(compiler *ast.Compiler, name string) bool {
	_, held := p.Tables()[name]
	return held || len(compiler.GetRules(tablesRoot.Append(ast.StringTerm(name)))) > 0
}

// misspelt is the table that no rule looks up and whose name is almost the given one.
func (p *Set) misspelt(name string, lookedUp map[string]*ast.Location) string {
	var idle []string
	for table := range p.Tables() {
		if lookedUp[table] == nil {
			idle = append(idle, table)
		}
	}
	slices.Sort(idle)
	return spelling.Nearest(name, idle, len(name)/3+1)
}

// Tables are those of the data; nil if there are none.
func (p *Set) Tables() map[string]any {
	root, _ := p.Data["bailiff"].(map[string]any)
	tables, _ := root["tables"].(map[string]any)
	return tables
}

// faultAt names the file and line that lead furthest to a value.
func (p *Set) faultAt(at []string, wrong string) source.Fault {
	name, line := p.PlaceOf(at)
	return source.Fault{File: name, Line: line, Message: strings.Join(at, ".") + ": " + wrong}
}

// PlaceOf is the file and line that lead furthest to a value.
func (p *Set) PlaceOf(at []string) (name string, line int) {
	furthest := 0
	for _, f := range p.Files {
		if !f.IsData() {
			continue
		}
		if begins, found := f.Locate(at); found > furthest {
			name, line, furthest = f.Name, begins, found
		}
	}
	return name, line
}
