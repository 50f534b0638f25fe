package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

func TestACredentialIsAPlaceNeverASecret(t *testing.T) {
	t.Parallel()
	known := backends.Catalogue{"far": func() backends.Maker { return new(far) }}
	for text, want := range map[string]string{
		"{env: FAR_KEY}": "",
		"{file: key}":    "",
		"{file: key}, below: {key: {env: FAR_KEY}}": "",
		"sk-123": "bailiff.yaml:1: backends.far.key: want {env: NAME} or {file: PATH}, which say where the " +
			"secret is kept, not the secret itself",
		"{env: FAR_KEY, file: key}": "bailiff.yaml:1: backends.far.key: want {env: NAME} or {file: PATH}, which say where the " +
			"secret is kept, not the secret itself",
		"{env: FAR_KEY}, number: 11": "bailiff.yaml:1: backends.far.number: want 1 to 10, is 11",
		"{env: FAR_KEY}, number: 2":  "bailiff.yaml:1: backends.far: want number to be odd",
	} {
		t.Run(text, func(t *testing.T) {
			c, err := Parse("bailiff.yaml", []byte("backends: {far: {key: "+text+"}}"), known)
			if got := fmt.Sprint(err); want != "" && got != want || want == "" && err != nil {
				t.Fatalf("got  %v\nwant %v", got, want)
			}
			if want == "" && !c.Backends["far"].(*far).key.IsSet() {
				t.Error("the credential was not read")
			}
			if want == "" && fmt.Sprint(c.Credentials()) != map[bool]string{true: "[FAR_KEY]", false: "[]"}[strings.Contains(text, "env")] {
				t.Errorf("the variables with credentials are %v", c.Credentials())
			}
		})
	}
}

func TestASecretThatStandsWhereItsPlaceShouldIsNotRepeated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"s3cret":                       "want {env: NAME} or {file: PATH}",
		`"s3cret"`:                     "want {env: NAME} or {file: PATH}",
		"|\n    s3cret":                "want {env: NAME} or {file: PATH}",
		"[s3cret]":                     "want {env: NAME} or {file: PATH}",
		"5327":                         "want {env: NAME} or {file: PATH}",
		"{s3cret}":                     "want {env: NAME} or {file: PATH}",
		"{value: s3cret}":              "want {env: NAME} or {file: PATH}",
		"{env: KEY, value: s3cret}":    "want {env: NAME} or {file: PATH}",
		"{}":                           "want {env: NAME} or {file: PATH}",
		"":                             "want {env: NAME} or {file: PATH}",
		"{file: 5327}":                 "want {env: NAME} or {file: PATH}",
		"{env: dtn_s3cret}":            "want the name of a variable in capital letters",
		"{env: as-s3cret}":             "want the name of a variable in capital letters",
		"{env: 5327}":                  "want the name of a variable in capital letters",
		"{env: [s3cret]}":              "want the name of a variable in capital letters",
		`{file: "a $s3cret"}`:          "want the path of a file",
		`{file: "~s3cret"}`:            "want the path of a file",
		`{file: "-----BEGIN\ns3cret"}`: "want the path of a file",
	} {
		_, err := parse("bailiff.yaml", "backends:\n  daytona:\n   api_key: "+text)
		if err == nil || !strings.Contains(err.Error(), ": backends.daytona.api_key: "+want) ||
			strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "5327") || strings.Contains(err.Error(), "\n") {
			t.Errorf("of %s it says %v", text, err)
		}
	}
}

// far is a technology of this test's.
type far struct {
	backends.Maker
	key    settings.Credential
	other  settings.Credential
	number int
}

func (f *far) Settings() []settings.Setting {
	return []settings.Setting{{Key: "key", Into: &f.key},
		{Key: "below", Into: []settings.Setting{{Key: "key", Into: &f.other}}}, {Key: "number", Into: &f.number, Least: 1, Most: 10}}
}

func (f *far) Check() error {
	if f.number%2 == 0 && f.number > 0 {
		return errors.New("want number to be odd")
	}
	return nil
}
