package tables

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// chats reads what is said of single chats, each named by its platform and id. What
// would have to be more than its platform or its sandboxes allow counts for nothing,
// so it is a fault.
func (t technologies) chats(all any) shape {
	chat := fields(map[string]shape{
		"isolation": word("required", "optional"), "take": word("first", "ready"), "backends": t.list(), "images": t.to(text),
		"runtimes":   t.to(text),
		"persistent": t.to(truth), "limits": limits, "network": network,
	})
	platforms := object(all, "platforms")
	return entries("an object", func(name string, value any, at keys, tell reporter) {
		chat(value, at, tell)
		platform, id, _ := strings.Cut(name, "/")
		switch {
		case id == "":
			tell(at, "is no chat, want a platform and the id of a chat of its, as in telegram/-1001234")
		case platforms[platform] == nil:
			tell(at, "the chat is of an "+spelling.Unknown("platform", platform, slices.Collect(maps.Keys(platforms))))
		default:
			stricter(object(value), object(platforms, platform), platform, at, tell)
			withinLimits(all, object(value), object(platforms, platform), at, tell)
		}
	})
}

// stricter tells of what a chat says and its platform does not let it say.
func stricter(chat, platform map[string]any, name string, at keys, tell reporter) {
	if chat["isolation"] == "optional" && platform["isolation"] != "optional" {
		tell(at.below("isolation"), fmt.Sprintf("is optional, and platform %s requires it: a chat can only be stricter", name))
	}
	allowed := object(platform, "limits")
	for kind, wanted := range object(chat, "limits") {
		if most, bounded := number(allowed[kind]); bounded && exceeds(wanted, most) {
			tell(at.below("limits").below(kind),
				fmt.Sprintf("is %v, and the limit of platform %s is %v: a chat can only be stricter", wanted, name, allowed[kind]))
		}
	}
}

// withinLimits tells of limits of a chat that no sandbox of its could have.
func withinLimits(all any, chat, platform map[string]any, at keys, tell reporter) {
	names, ok := chat["backends"].([]any)
	if !ok {
		names, _ = platform["backends"].([]any)
	}
	for kind, wanted := range object(chat, "limits") {
		if most, bounded := greatest(all, names, kind); bounded && exceeds(wanted, most) {
			tell(at.below("limits").below(kind),
				fmt.Sprintf("is %v, and its sandboxes may have %v at most: raise that in the table sandboxes", wanted, most))
		}
	}
}

// greatest is the highest limit of a kind among the sandboxes of backends, if all of
// them have one.
func greatest(all any, backends []any, kind string) (most float64, bounded bool) {
	for _, name := range backends {
		name, _ := name.(string)
		row := object(all, "sandboxes", bailiff.BackendName(name))
		if row == nil {
			row = object(all, "unnamed_sandbox")
		}
		limit, has := number(object(row, "limits")[kind])
		if !has {
			return 0, false
		}
		most, bounded = max(most, limit), true
	}
	return most, bounded
}

func exceeds(wanted any, most float64) bool {
	n, ok := number(wanted)
	return ok && n > most
}

func number(value any) (float64, bool) {
	written, _ := value.(json.Number)
	n, err := written.Float64()
	return n, err == nil
}

// object is the object below some keys, empty if there is none.
func object(value any, below ...string) map[string]any {
	members, _ := value.(map[string]any)
	for _, key := range below {
		members, _ = members[key].(map[string]any)
	}
	return members
}
