package rows

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// Labels are what people want of texts, by the digests of these: so labels can be told without the texts.
type Labels map[string]Want

// label is a line of a file of labels.
type label struct {
	SHA256 string `json:"sha256"`
	Want   Want   `json:"want"`
}

// ReadLabels reads lines of JSON, each with the digest of a text and what is wanted of it. An error names file and line.
func ReadLabels(in io.Reader, name string) (Labels, error) {
	labels := Labels{}
	lines := bufio.NewScanner(in)
	for number := 1; lines.Scan(); number++ {
		var l label
		err := json.Unmarshal(lines.Bytes(), &l)
		switch digest, wrong := hex.DecodeString(l.SHA256); {
		case err != nil:
			err = fmt.Errorf("it is no JSON object: %w", err)
		case wrong != nil || len(digest) != sha256.Size:
			err = fmt.Errorf("sha256 is %q, want 64 digits of a digest", l.SHA256)
		case l.Want == "" || !slices.Contains(wants, l.Want):
			err = fmt.Errorf("want is %q: %s", l.Want, spelling.Unknown("word", string(l.Want), words()))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		labels[l.SHA256] = l.Want
	}
	return labels, lines.Err()
}

// of is what is wanted of a row that does not say it itself.
func (l Labels) of(row Row) Want {
	if row.Want != "" || l == nil {
		return row.Want
	}
	digest := sha256.Sum256([]byte(string(row.Tool) + "\n" + row.Text))
	return l[hex.EncodeToString(digest[:])]
}
