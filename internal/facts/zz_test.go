package facts
import ("testing";"os";"path/filepath";"time";"strings")
func TestZZ(t *testing.T) {
	bad, n, inc := 0, 0, 0
	var worst time.Duration
	filepath.Walk("/usr/lib/python3.11", func(p string, i os.FileInfo, err error) error {
		if err != nil || filepath.Ext(p) != ".py" || i.Size() > 1<<20 || strings.Contains(p, "lib2to3/tests/data") { return nil }
		b, _ := os.ReadFile(p)
		n++
		st := time.Now()
		c := Python(string(b), Place{})
		if d := time.Since(st); d > worst { worst = d; t.Log(p, d) }
		if !c.Parsed { bad++; t.Log("unparsed", p) } else if !c.Complete { inc++ }
		return nil
	})
	t.Log(bad, n, inc, worst)
}
