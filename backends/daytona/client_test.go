package daytona

import (
	"io"
	"net/http"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

func TestAReasonIsToldInDaytonasWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"message": ["cpu must be a number"], "error": "Bad Request"}`: "Daytona answered 400: [cpu must be a number]",
		`{"error": "state\u001b[31m\nchange"}`:                          "Daytona answered 400: state[31m change",
		`not JSON`:                                                      "Daytona answered 400",
	} {
		b := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, body)
		})
		if err := b.api.remove(t.Context(), "it"); httpapi.Status(err) != 400 || err.Error() != want {
			t.Errorf("the reason is %q, want %q", err, want)
		}
	}
}
