package daytona

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// client asks Daytona's API and toolboxes.
type client struct {
	*httpapi.Client
	base string
}

func newClient(base string, key settings.Credential) *client {
	read := func() (bailiff.Secret, error) {
		secret, err := key.Read()
		if err != nil {
			err = fmt.Errorf("backends.daytona.api_key: %w", err)
		}
		return secret, err
	}
	return &client{httpapi.New(httpapi.Config{Name: "Daytona", Credential: read, Reason: reason}), strings.TrimRight(base, "/")}
}

// reason is what Daytona says of what it did not do.
func reason(body []byte) (code, message string) {
	var said struct {
		Message any    `json:"message"`
		Error   string `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // something on the way may have answered
	if said.Message != nil {
		return "", fmt.Sprint(said.Message)
	}
	return "", said.Error
}
