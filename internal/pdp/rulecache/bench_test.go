package rulecache

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var texts = map[string]string{
	"short":  "ls -l srcN",
	"usual":  "cd /workspace/app && git add -A && git commit -m 'Fix the parserN' && git push origin fix-parserN",
	"script": strings.Repeat("for f in src/*.go; do grep -n TODO-N \"$f\" | sort -u > /workspace/outN/$(basename $f).txt; done\n", 10),
}

// BenchmarkLayers compares new decisions (facts, input document, evaluation) without one layer of what is remembered with those
// that have it. Each text has other words than the one before.
func BenchmarkLayers(b *testing.B) {
	for layer, turnOff := range map[string]func(*Cache){
		"rules by parts":     func(c *Cache) { clear(c.byRule) },
		"calls of functions": func(c *Cache) { clear(c.functions.byName) },
		"both": func(c *Cache) {
			clear(c.byRule)
			clear(c.functions.byName)
		},
	} {
		for name, text := range texts {
			b.Run(layer+"/"+name, func(b *testing.B) {
				with, without := shipped(b), shipped(b)
				turnOff(without.Cache)
				compare(b, decidingAnew(b, without, text), decidingAnew(b, with, text))
			})
		}
	}
}

func decidingAnew(b *testing.B, p policies, text string) func() {
	n := 0
	return func() {
		n++
		if answer, err := p.decide(inputOf(asking(strings.ReplaceAll(text, "N", strconv.Itoa(n))), noon)); err != nil || answer == nil {
			b.Fatal(answer, err)
		}
	}
}

// compare runs two things turn by turn and reports how many times longer the first takes, by the medians.
func compare(b *testing.B, without, with func()) {
	b.Helper()
	var ones, others []time.Duration
	without()
	with()
	for b.Loop() {
		ones, others = append(ones, took(without)), append(others, took(with))
	}
	b.ReportMetric(float64(median(ones))/float64(median(others)), "x-with")
	b.ReportMetric(float64(median(others)), "ns-median-with")
}

func took(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
