package hermes

import (
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// forward carries over which variables enter. Those that the shipped tables forward
// and Hermes does not are taken out.
func (p *plan) forward() {
	wanted := map[string]bool{}
	for _, key := range []string{"terminal.docker_forward_env", "terminal.env_passthrough"} {
		said, ok := p.take(key)
		names, isList := said.list()
		switch {
		case !ok || isList && len(names) == 0:
		case !isList:
			p.wrong(key, said, "a list of names")
		case key == "terminal.docker_forward_env" && !p.ranOn("docker"):
			p.left(key, said, "Hermes runs nothing on docker.", "")
		default:
			for _, name := range names {
				if p.forwardOne(key, said, name) {
					wanted[name] = true
				}
			}
		}
	}
	p.config.variables = sortedNames(wanted)
	p.withholdOthers(wanted)
	p.doNotSet()
}

// withholdOthers takes out of the table what Hermes does not forward.
func (p *plan) withholdOthers(wanted map[string]bool) {
	var others []string
	for _, name := range p.secretsShipped() {
		if !wanted[name] {
			others = append(others, name)
		}
	}
	p.tables.remove("env", others)
	if len(others) > 0 {
		p.next("Hermes does not forward " + strings.Join(others, ", ") +
			", which the shipped table env gives to programs that need them; they are taken out of it.")
	}
}

// forwardOne tells whether a variable may enter from now on.
func (p *plan) forwardOne(key string, said setting, name string) bool {
	switch {
	case !bailiff.IsVariable(name):
		p.left(key, said, "One of its entries is not the name of a variable.", "")
		return false
	case p.never(name) != "":
		p.left(key, said, name+" never enters a sandbox ("+p.never(name)+
			"): with it a command could load code of its choice, or act as the agent itself.",
			"Give commands a variable of another name, with rights of their own.")
		return false
	case p.tables.get("env", name) != nil:
		p.carried(key, said, "policies/data.yaml: env, "+name,
			"Narrower than Hermes: only the platforms and programs that the shipped table gives it to.")
	default:
		p.tables.set([]any{map[string]any{"platforms": yamledit.List(p.config.platforms),
			"tools": yamledit.List([]string{"terminal", "execute_code"})}},
			"env", name)
		p.carried(key, said, "policies/data.yaml: env, "+name,
			"Any command may have it if the agent asks for it, as with Hermes; \"programs\" there would bound that.")
	}
	return true
}

// never is the rule by which a name never enters; empty if none does.
func (p *plan) never(name string) string {
	if rule := p.tables.get("env_never", "names", name); rule != nil {
		return rule.GetToken().Value
	}
	prefixes, _ := p.tables.get("env_never", "prefixes").(ast.MapNode)
	for it := prefixes.MapRange(); it.Next(); {
		if prefix := it.Key().GetToken().Value; hasFold(name, prefix) {
			return it.Value().GetToken().Value
		}
	}
	return ""
}

// secretsShipped are the names that the shipped table gives to some programs only.
func (p *plan) secretsShipped() []string {
	names := map[string]bool{}
	table, _ := p.tables.get("env").(ast.MapNode)
	for it := table.MapRange(); it.Next(); {
		entries, _ := it.Value().(*ast.SequenceNode)
		names[it.Key().GetToken().Value] = slices.ContainsFunc(entries.Values,
			func(entry ast.Node) bool { return yamledit.Member(entry, "programs") != nil })
	}
	maps.DeleteFunc(names, func(_ string, secret bool) bool { return !secret })
	return sortedNames(names)
}

// doNotSet leaves variables that come with their values.
func (p *plan) doNotSet() {
	const section = "terminal.docker_env"
	keys := append(p.home.settings.below(section+"."), section)
	for _, key := range keys {
		said, ok := p.take(key)
		if text, _ := said.text(); ok && (key != section || text != "{}") {
			p.left(key, said, "A value in a configuration shows to everybody who may read it, and is not copied.",
				"Put it into a file of env.sources, and its name into the table env.")
		}
	}
}
