package discord

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// Codes of Discord's for what went wrong.
const (
	unknownChannel     = 10003
	unknownMember      = 10007
	unknownMessage     = 10008
	unknownUser        = 10013
	unknownInteraction = 10062
	alreadyAnswered    = 40060
	missingAccess      = 50001
	notInThisChannel   = 50024
	missingPermission  = 50013
	archived           = 50083
	alreadyThread      = 160004
)

const badToken = "Discord does not know the bot's token: set discord.token to the one that the page Bot of the application " +
	"in Discord's developer portal gives (Reset Token makes a new one)"

// hasCode says whether Discord's no is that one.
func hasCode(err error, code int) bool {
	var f *fault
	return errors.As(err, &f) && f.code == code
}

// refusal says what an error means for a call in a channel, which needs
// a permission.
func refusal(err error, channel, needs string) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	switch f.code {
	case unknownMessage:
		return chat.ErrGone
	case unknownChannel:
		return newRefusal("Discord knows no channel %s: want the id of a channel of a server that has the bot", channel)
	case missingAccess:
		return newRefusal("the bot may not see Discord's channel %s: give it the permission View Channel there", channel)
	case missingPermission:
		return newRefusal("the bot may not do this in Discord's channel %s: give it the permission %s there", channel, needs)
	case archived:
		return newRefusal("Discord's thread %s is archived: it opens again when somebody writes there", channel)
	}
	switch {
	case f.status == http.StatusUnauthorized:
		return &chat.Refused{Reason: badToken}
	case f.status == http.StatusBadRequest, f.status == http.StatusRequestEntityTooLarge,
		// without, it is of what stands before Discord
		f.code != 0 && (f.status == http.StatusForbidden || f.status == http.StatusNotFound):
		return newRefusal("Discord refuses this in channel %s: %s (code %d)", channel, f.message, f.code)
	}
	return err
}

func newRefusal(format string, a ...any) *chat.Refused {
	return &chat.Refused{Reason: fmt.Sprintf(format, a...)}
}
