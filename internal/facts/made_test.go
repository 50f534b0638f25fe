package facts

import "testing"

func TestFilesThatTheTextMakesOfOthersAreReadWithThem(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	there := Contents{"/w/x.sh": recent(removal)}
	below := Contents{"/w/d/x.sh": recent(removal)}
	foundCases(t, map[string]foundCase{
		"a copy":                       {"cp x.sh y.sh; bash y.sh", there, removal, true},
		"a copy of a copy":             {"cp x.sh y.sh; cp y.sh z.sh; bash z.sh", there, removal, true},
		"a copy into a folder":         {"cp x.sh e/; bash e/x.sh", there, removal, true},
		"a copied folder":              {"cp -r d e; bash e/x.sh", below, removal, true},
		"a mirrored folder":            {"rsync -a d/ e/; bash e/x.sh", below, removal, true},
		"a moved file":                 {"mv x.sh y.sh; ./y.sh", there, removal, true},
		"a file that git moves":        {"git mv x.sh y.sh; bash y.sh", there, removal, true},
		"a link":                       {"ln -s x.sh y.sh; bash y.sh", there, removal, true},
		"an installed file":            {"install x.sh y.sh; ./y.sh", there, removal, true},
		"copied blocks":                {"dd if=x.sh of=y.sh; bash y.sh", there, removal, true},
		"written output":               {"cat x.sh > y.sh; bash y.sh", there, removal, true},
		"output that is written twice": {"cat x.sh | tee y.sh; bash y.sh", there, removal, true},
		"a copy inside a file": {"sh a.sh", Contents{"/w/a.sh": recent("cp x.sh y.sh; sh y.sh"),
			"/w/x.sh": recent(removal)}, removal, true},
		"a makefile that is copied":     {"cp a Makefile; make", Contents{"/w/a": recent("all:\n\t" + removal + "\n")}, removal, true},
		"folders copied in a circle":    {"cp -r a b; cp -r b a; bash a/x.sh", Contents{"/w/a/x.sh": settled("ls")}, "", true},
		"a copy that is not run":        {"cp x.sh y.sh; cat y.sh", there, "", true},
		"an old script made executable": {"chmod +x x.sh; ./x.sh", Contents{"/w/x.sh": settled(`eval "$X"`)}, "", true},
		"a copy of an old script":       {"cp x.sh y.sh; ./y.sh", Contents{"/w/x.sh": settled(`eval "$X"`)}, "", true},
		"an old script that is touched": {"touch x.sh; bash x.sh", Contents{"/w/x.sh": settled("ls")}, "", true},
	})
}

func TestFilesThatAreMadeUnseenHideTheirMeaningByTheAgeOfTheirSources(t *testing.T) {
	t.Parallel()
	old := Contents{"/w/x.sh": settled("ls")}
	foundCases(t, map[string]foundCase{
		"a young archive":                 {"tar xf a.tar; bash x.sh", Contents{"/w/a.tar": {Recent: true}}, "", false},
		"an old archive":                  {"tar xf a.tar; bash x.sh", Contents{"/w/a.tar": {}}, "", true},
		"a young archive of another kind": {"unzip a.zip; ./x.sh", Contents{"/w/a.zip": recent("PK")}, "", false},
		"a young compressed file":         {"gunzip x.sh.gz; bash x.sh", Contents{"/w/x.sh.gz": recent("z")}, "", false},
		"an old compressed file":          {"gunzip x.sh.gz; bash x.sh", Contents{"/w/x.sh.gz": settled("z")}, "", true},
		"a part of a young file":          {"split -n 1 a x; bash xaa", Contents{"/w/a": recent("ls")}, "", false},
		"a decrypted file":                {"openssl enc -d -in a -out x.sh; bash x.sh", Contents{"/w/a": recent("ls")}, "", false},
		"a young patch of the file":       {"patch -p1 < a.patch; sh x.sh", patchOf("x.sh"), "", false},
		"a young patch of another file":   {"patch -p1 < a.patch; sh x.sh", patchOf("y.sh"), "", true},
		"the same by git":                 {"git apply a.patch; sh x.sh", patchOf("x.sh"), "", false},
		"of another file by git":          {"git apply a.patch; sh x.sh", patchOf("y.sh"), "", true},
		"a program without a description": {"foo -o x.sh; bash x.sh", old, "", false},
		"the same beside the file":        {"foo -o y.sh; bash x.sh", old, "", true},
		"an edit in place":                {"sed -i s/a/b/ x.sh; bash x.sh", old, "", false},
		"an editor":                       {"ed -s x.sh < a; bash x.sh", old, "", false},
		"a compiled program":              {"gcc -o x x.c; ./x", Contents{"/w/x.c": recent("int main;")}, "", true},
	})
}

// patchOf is a young patch of a file beside an old script.
func patchOf(name string) Contents {
	return Contents{"/w/a.patch": recent("--- a/" + name + "\n+++ b/" + name + "\n"), "/w/x.sh": settled("ls")}
}
