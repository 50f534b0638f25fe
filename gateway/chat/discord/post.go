package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// Discord's bounds, on characters except for the file's.
const (
	messageLength  = 2000
	labelLength    = 80
	titleLength    = 100
	customIDLength = 100
	nonceLength    = 25
	fileBytes      = 9 << 20
	buttonsInRow   = 5
	rows           = 5
)

// shown is a message as Discord takes it.
type shown struct {
	Content         string                           `json:"content"`
	Components      []discordgo.MessageComponent     `json:"components"`
	AllowedMentions discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Flags           discordgo.MessageFlags           `json:"flags"`
	Nonce           string                           `json:"nonce,omitempty"`
	EnforceNonce    bool                             `json:"enforce_nonce,omitempty"`
	Attachments     []attachment                     `json:"attachments,omitempty"`
}

type attachment struct {
	ID       int    `json:"id"`
	Filename string `json:"filename"`
}

func show(text chat.Text, buttons []chat.Button) shown {
	return shown{
		Content:         fit(text, messageLength),
		Components:      components(buttons),
		AllowedMentions: discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		Flags:           discordgo.MessageFlagsSuppressEmbeds,
	}
}

// errAnswer is a yes to nothing: what was posted may be shown.
var errAnswer = errors.New("the answer of Discord names no message")

// Post shows a message.
func (d *Discord) Post(ctx context.Context, at chat.Place, m chat.Message, key string) (chat.Ref, error) {
	body := show(m.Text, m.Buttons)
	body.Nonce, body.EnforceNonce = nonce(key), true
	path, needs := "/channels/"+url.PathEscape(channel(at))+"/messages", "Send Messages"
	if at.Thread != "" {
		needs = "Send Messages in Threads"
	}
	var posted struct {
		ID string `json:"id"`
	}
	var err error
	if m.File == nil {
		err = d.do(ctx, http.MethodPost, path, body, &posted)
	} else {
		file := &chat.File{Name: m.File.Name, Content: m.File.Content[:min(len(m.File.Content), fileBytes)]}
		body.Attachments = []attachment{{Filename: file.Name}}
		needs += " and Attach Files"
		err = d.upload(ctx, path, body, file, &posted)
	}
	if err == nil && posted.ID == "" {
		err = errAnswer
	}
	if err != nil {
		return chat.Ref{}, refusal(err, channel(at), needs)
	}
	return chat.Ref{Place: at, Message: posted.ID}, nil
}

// Edit replaces a message.
func (d *Discord) Edit(ctx context.Context, at chat.Ref, m chat.Message) error {
	err := d.do(ctx, http.MethodPatch, message(at), show(m.Text, m.Buttons), nil)
	return refusal(err, channel(at.Place), "Send Messages")
}

// Thread is the thread that goes on from a message, whose id it has.
func (d *Discord) Thread(ctx context.Context, from chat.Ref, title string) (chat.Place, error) {
	if from.Thread != "" {
		return from.Place, nil
	}
	body := struct {
		Name    string `json:"name"`
		Archive int    `json:"auto_archive_duration"`
	}{threadName(title), 24 * 60}
	made := struct {
		ID string `json:"id"`
	}{from.Message}
	err := d.do(ctx, http.MethodPost, message(from)+"/threads", body, &made)
	switch {
	case hasCode(err, notInThisChannel):
		return from.Place, nil
	case err != nil && !hasCode(err, alreadyThread):
		return chat.Place{}, refusal(err, from.Chat, "Create Public Threads")
	}
	return chat.Place{Chat: from.Chat, Thread: made.ID}, nil
}

// threadName is a thread's, which is one line and not empty.
func threadName(title string) string {
	line := strings.Join(strings.Fields(clean(title)), " ")
	if line == "" {
		return "bailiff"
	}
	return chat.Excerpt(line, titleLength)
}

// channel is the channel of a place: at Discord a thread is a channel of its own.
func channel(at chat.Place) string {
	if at.Thread != "" {
		return at.Thread
	}
	return at.Chat
}

func message(at chat.Ref) string {
	return "/channels/" + url.PathEscape(channel(at.Place)) + "/messages/" + url.PathEscape(at.Message)
}

// nonce is a key's, as long as Discord takes one.
func nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:nonceLength]
}

// components are buttons in rows.
func components(buttons []chat.Button) []discordgo.MessageComponent {
	all := []discordgo.MessageComponent{}
	for len(buttons) > 0 && len(all) < rows {
		n := min(len(buttons), buttonsInRow)
		row := discordgo.ActionsRow{}
		for _, b := range buttons[:n] {
			row.Components = append(row.Components, button(b))
		}
		all, buttons = append(all, row), buttons[n:]
	}
	return all
}

func button(b chat.Button) discordgo.Button {
	style := discordgo.DangerButton
	if b.Yes {
		style = discordgo.SuccessButton
	}
	return discordgo.Button{Label: chat.Excerpt(b.Label, labelLength), Style: style, CustomID: customID(b)}
}

// question separates a token, which has letters and digits only, from what is asked.
const question = "?"

func customID(b chat.Button) string {
	if b.Asks == "" {
		return b.Token
	}
	return chat.Excerpt(b.Token+question+b.Asks, customIDLength)
}
