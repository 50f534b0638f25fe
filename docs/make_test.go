package docs_test

import (
	"os/exec"
	"regexp"
	"testing"
)

var (
	targetMade  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	targetShown = regexp.MustCompile(`(?m)^make ([a-z][a-z-]*)\b.* [a-z]`)
)

func TestMakeHelpListsEveryTarget(t *testing.T) {
	command := exec.Command("make", "--silent", "help")
	command.Dir = root
	printed, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	made, shown := map[string]bool{}, map[string]bool{}
	for _, m := range targetMade.FindAllStringSubmatch(source(t, "Makefile"), -1) {
		made[m[1]] = true
	}
	for _, m := range targetShown.FindAllStringSubmatch(string(printed), -1) {
		shown[m[1]] = true
	}
	same(t, "make help", made, shown)
}
