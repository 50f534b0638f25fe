package tables

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// budgetsTable has a row for each budget: for whom it holds, and what may be used of what in which time.
func budgetsTable(all any) shape {
	platforms := slices.Sorted(maps.Keys(object(all, "platforms")))
	roles := slices.Sorted(maps.Keys(object(all, "roles")))
	row := fields(map[string]shape{
		"roles": list(oneOf("role", roles)), "platforms": list(oneOf("platform", platforms)),
		"chats": list(account(platforms, "chat")), "users": list(account(platforms, "user")),
		"count": word(bailiff.CountRequests, bailiff.CountRunSeconds, bailiff.CountQuestions, bailiff.CountUploadMB), "most": count,
		"window": word("minute", "hour", "day"), "per": word("user", "chat", "platform", "all"), "verdict": word("ask", "deny"),
	})
	return entriesOf(func(value any, at keys, tell reporter) {
		row(value, at, tell)
		fields, is := value.(map[string]any)
		if !is { // the row says so
			return
		}
		for key, want := range map[string]string{"count": "what is counted, such as requests", "most": "how much may be used",
			"window": "minute, hour or day"} {
			if fields[key] == nil {
				tell(at, "has no "+key+", want "+want)
			}
		}
		for _, kind := range []string{"roles", "platforms", "chats", "users"} {
			if names, isList := fields[kind].([]any); isList && len(names) == 0 {
				tell(at.below(kind), "is empty, so that the budget holds for no request: name some, or leave the key out")
			}
		}
		if fields["count"] == bailiff.CountQuestions {
			checkQuestions(fields, at, tell)
		}
	})
}

// oneOf is a name of a row of another table.
func oneOf(kind string, known []string) shape {
	return func(value any, at keys, tell reporter) {
		if describe(value, describeText("")) {
			return
		}
		if name, ok := value.(string); !ok || !slices.Contains(known, name) {
			tell(at, "is an "+spelling.Unknown(kind, fmt.Sprint(value), known))
		}
	}
}

// mostQuestions bounds what is remembered of the questions of one budget.
const mostQuestions = 10_000

func checkQuestions(fields map[string]any, at keys, tell reporter) {
	if fields["verdict"] == "ask" {
		tell(at.below("verdict"), "is ask, want deny: nothing is left of questions to ask by")
	}
	if n, is := fields["most"].(json.Number); is {
		if most, err := n.Int64(); err == nil && most > mostQuestions {
			tell(at.below("most"), fmt.Sprintf("is more than %d questions, which no person reads", mostQuestions))
		}
	}
}
