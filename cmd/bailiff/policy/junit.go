package policy

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
)

// junitReport is what CI reads of a run of tests. Of the dialects there are it
// keeps to what all know: suites, their sums, cases, and how each ended.
type junitReport struct {
	XMLName xml.Name `xml:"testsuites"`
	junitSums
	Suites []*junitSuite `xml:"testsuite"`
}

// junitSuite holds the tests of one package.
type junitSuite struct {
	Name string `xml:"name,attr"`
	junitSums
	Cases []junitCase `xml:"testcase"`
}

// junitSums count cases; Time is in seconds.
type junitSums struct {
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Time     float64 `xml:"time,attr"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Package string      `xml:"classname,attr"`
	File    string      `xml:"file,attr"`
	Line    int         `xml:"line,attr"`
	Time    float64     `xml:"time,attr"`
	Skipped *struct{}   `xml:"skipped"`
	Error   *junitFault `xml:"error"`
	Failure *junitFault `xml:"failure"`
	Output  string      `xml:"system-out,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// clearJUnit removes the report of an earlier run, which would stand for one of tests
// that could not be run.
func clearJUnit(name string) error {
	if name == "" {
		return nil
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the results of an earlier run: %w", err)
	}
	return nil
}

// writeJUnit writes a report to a file; without a name there is none.
func writeJUnit(name string, report regotest.Report) error {
	if name == "" {
		return nil
	}
	var text bytes.Buffer
	err := encodeJUnit(&text, toJUnit(report))
	if err == nil {
		err = os.WriteFile(name, text.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the results for CI: %w", err)
	}
	return nil
}

// encodeJUnit writes a report.
func encodeJUnit(w io.Writer, report junitReport) error {
	text, err := xml.MarshalIndent(report, "", "  ")
	if err == nil {
		_, err = w.Write(append([]byte(xml.Header), append(text, '\n')...))
	}
	return err
}

func toJUnit(report regotest.Report) junitReport {
	var all junitReport
	suites := map[string]*junitSuite{}
	for _, r := range report.Results {
		suite, begun := suites[r.Package]
		if !begun {
			suite = &junitSuite{Name: r.Package}
			suites[r.Package] = suite
			all.Suites = append(all.Suites, suite)
		}
		for _, c := range junitCases(r) {
			suite.Cases = append(suite.Cases, c)
			suite.count(c)
			all.count(c)
		}
	}
	return all
}

// junitCases are the cases of a test, which share its time evenly since
// theirs is not measured, or the test itself.
func junitCases(r regotest.Result) (all []junitCase) {
	one := junitCase{Name: r.Name, Package: r.Package, File: r.File, Line: r.Line, Time: r.Seconds, Output: r.Output}
	if len(r.Cases) == 0 {
		one.ends(r.Outcome, r.Message)
		return []junitCase{one}
	}
	one.Time /= float64(len(r.Cases))
	for _, c := range r.Cases {
		part := one
		part.Name = r.Name + "[" + c.Name + "]"
		part.ends(c.Outcome, "")
		all = append(all, part)
	}
	return all
}

func (c *junitCase) ends(outcome regotest.Verdict, message string) {
	at := fmt.Sprintf("%s:%d: %s %s", c.File, c.Line, outcome, message)
	switch outcome {
	case regotest.Pass:
	case regotest.Fail:
		c.Failure = &junitFault{Message: "the test does not hold", Text: at}
	case regotest.Skipped:
		c.Skipped = &struct{}{}
	default:
		c.Error = &junitFault{Message: message, Text: at}
	}
}

func (s *junitSums) count(c junitCase) {
	s.Tests++
	s.Time += c.Time
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}
