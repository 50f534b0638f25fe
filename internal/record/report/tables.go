package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// shown is how many rows a table has at most; JSON has all.
const shown = 20

// Tables are a report as it is shown, those without a row left out.
func (r Report) Tables() (list []api.ReportTable) {
	list = []api.ReportTable{}
	for _, t := range []api.ReportTable{
		table("Where commands ran", "backend,runs,failed,seconds", r.Places, func(p Place) []any {
			return []any{p.Backend, p.Runs, p.Failed, fmt.Sprintf("%.1f", p.Seconds)}
		}),
		table("Rules", "rule,asked,denied,yes,no,unanswered,for example", r.Rules, func(r Rule) []any {
			return []any{r.Rule, r.Asked, r.Denied, r.Yes, r.No, r.Unanswered, strings.Join(r.Examples, "; ")}
		}),
		table("Rules that were only observed", "rule,would have asked,would have denied,for example", r.Observed, func(o Observed) []any {
			return []any{o.Rule, o.Asked, o.Denied, strings.Join(o.Examples, "; ")}
		}),
		table("Rules that asked and heard nothing but yes", "rule,yes,for example", r.InVain, func(r Rule) []any {
			return []any{r.Rule, r.Yes, strings.Join(r.Examples, "; ")}
		}),
		table("Chats", requesterHead("chat"), r.Chats, requesterRow),
		table("People", requesterHead("person"), r.People, requesterRow),
		table("Approvers", "approver,yes,no,median seconds to a yes,"+fmt.Sprintf("yes within %d s", quick), r.Approvers,
			func(a Approver) []any { return []any{a.Name, a.Yes, a.No, a.Seconds, a.Quick} }),
		table("Hosts", "host,connections,refused,bytes sent,bytes received", r.Hosts, func(h Host) []any {
			return []any{h.Host, h.Opened, h.Refused, h.Sent, h.Received}
		}),
	} {
		if len(t.Rows) > 0 {
			list = append(list, t)
		}
	}
	return list
}

func requesterHead(who string) string { return who + ",allowed,asked,denied,questions,most a day,on" }

func requesterRow(r Requester) []any {
	return []any{r.Name, r.Allowed, r.Asked, r.Denied, r.Questions, r.MostADay, r.Day}
}

func table[T any](title, head string, all []T, row func(T) []any) api.ReportTable {
	t := api.ReportTable{Title: title, Head: strings.Split(head, ",")}
	for i, one := range all {
		if i == shown {
			t.Title += fmt.Sprintf(" (%d of %d)", shown, len(all))
			break
		}
		var cells []string
		for _, cell := range row(one) {
			cells = append(cells, termsafe.Text(fmt.Sprint(cell)))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// Summary is what a report says before its tables, in sentences.
func (r Report) Summary() string {
	text := fmt.Sprintf("The log has no event since %s.", r.Since.UTC().Format(time.RFC3339))
	if r.Lines > 0 {
		text = fmt.Sprintf("%d events from %s to %s. Of %d requests %d were allowed, %d asked about and %d denied.", r.Lines,
			r.First.UTC().Format(time.RFC3339), r.Last.UTC().Format(time.RFC3339), r.Requests.all(),
			r.Requests.Allowed, r.Requests.Asked, r.Requests.Denied)
	}
	if r.ObservedRequests > 0 {
		text += fmt.Sprintf(" About %d of them rules were only observed, which would have asked or denied.", r.ObservedRequests)
	}
	if r.Unreadable > 0 {
		text += fmt.Sprintf(" Lines that cannot be read: %d, see \"bailiff audit verify\".", r.Unreadable)
	}
	return text
}

// Markdown writes tables as Markdown, in which no text of a request is more than a text.
func Markdown(w io.Writer, title, summary string, tables []api.ReportTable) error {
	var all strings.Builder
	fmt.Fprintf(&all, "# %s\n\n%s\n", title, escaped(summary))
	for _, t := range tables {
		fmt.Fprintf(&all, "\n## %s\n\n", t.Title)
		if len(t.Rows) == 0 {
			continue
		}
		writeRow(&all, t.Head)
		writeRow(&all, strings.Split(strings.Repeat("---,", len(t.Head)-1)+"---", ","))
		for _, row := range t.Rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = escaped(cell)
			}
			writeRow(&all, cells)
		}
	}
	_, err := io.WriteString(w, all.String())
	return err
}

func writeRow(all *strings.Builder, cells []string) {
	fmt.Fprintf(all, "| %s |\n", strings.Join(cells, " | "))
}

// escaped is a text in Markdown. A backslash makes punctuation a character like others (CommonMark, 2.4); the beginnings of what
// GitHub's dialect makes a link by itself are written as references to characters.
func escaped(text string) string { return inMarkdown.Replace(text) }

var inMarkdown = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;",
	"|", "\\|", "~", "\\~", "&", "&amp;", "$", "\\$", "#", "\\#", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;", "WWW.", "WWW&#46;")
