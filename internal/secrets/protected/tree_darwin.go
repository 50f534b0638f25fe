package protected

import "os"

// tree would hear of names that come and go. Here each look walks instead.
type tree struct{ isLost bool }

func newTree(*os.File) *tree { return nil }

func (t *tree) add(int, bool) {}

func (t *tree) isQuiet(func(name string, isFolder, isGits bool) bool) bool { return false }

func (t *tree) close() {}
