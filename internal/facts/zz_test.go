package facts
import ("testing";"os";"path/filepath";"time";"strings")
func TestZZ(t *testing.T) {
	bad, n, inc := 0, 0, 0; ks := map[string]int{}; ex := map[string][]string{}
	var worst time.Duration
	filepath.Walk("/usr/lib/python3.11", func(p string, i os.FileInfo, err error) error {
		if err != nil || filepath.Ext(p) != ".py" || i.Size() > 1<<20 || strings.Contains(p, "lib2to3/tests/data") { return nil }
		b, _ := os.ReadFile(p)
		n++
		st := time.Now()
		c := Python(string(b), Place{})
		if d := time.Since(st); d > worst { worst = d; t.Log(p, d) }
		if !c.Parsed { bad++; t.Log("unparsed", p) } else if !c.Complete { inc++; k := "other"; if len(c.Features) > 0 {k = strings.Join(c.Features, ",")} else if c.Command == nil {k = "nothing"} else if c.Command.Complete {k="shell-arg"}; ks[k]++; if len(ex[k]) < 6 { ex[k] = append(ex[k], filepath.Base(p)) } }
		return nil
	})
	t.Log(bad, n, inc, worst); for k, n := range ks { t.Log(k, n, ex[k]) }
}
