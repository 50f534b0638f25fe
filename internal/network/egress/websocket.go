package egress

import (
	"net/http"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// isWebSocket says whether a request asks to go over to a WebSocket, and to nothing else.
func isWebSocket(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.Method == http.MethodGet && r.ContentLength == 0 && len(r.Header["Upgrade"]) == 1 &&
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && strings.EqualFold(r.Header.Get("Connection"), "upgrade")
}

// webSocketRefusal is the refusal of a WebSocket for which no row has the word, or whose server would be
// given a value: it could not be taken out of the messages.
func webSocketRefusal(c bailiff.Connection, judged bailiff.ConnectionJudgement) *refusal {
	switch {
	case !judged.WebSocket:
		return refuse(c, ruleRequest, "No row of this host lets a request become a WebSocket.",
			"Have an operator set websocket: true in its row.")
	case judged.Limits != bailiff.ConnectionLimits{}:
		return refuse(c, ruleRequest, "What passes by a WebSocket cannot be bounded as the row of this host says.", "Use requests.")
	case len(c.Secrets) > 0:
		return refuse(c, ruleStray, "A WebSocket is given no value of a swapped variable.", "Send the value by a request.")
	}
	return nil
}
