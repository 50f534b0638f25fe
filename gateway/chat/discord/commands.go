package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// argument is the name of what follows a command's.
const argument = "what"

// commands are the slash commands, offered in servers that have the bot and in direct
// messages to it.
func commands() (all []*discordgo.ApplicationCommand) {
	everywhere := []discordgo.InteractionContextType{discordgo.InteractionContextGuild, discordgo.InteractionContextBotDM}
	installed := []discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall}
	for _, c := range chat.Commands {
		options := []*discordgo.ApplicationCommandOption{}
		if c.Argument != "" {
			options = append(options, &discordgo.ApplicationCommandOption{Type: discordgo.ApplicationCommandOptionString, Name: argument,
				Description: c.Argument, Required: true})
		}
		all = append(all, &discordgo.ApplicationCommand{
			Type: discordgo.ChatApplicationCommand, Name: c.Name, Description: c.Description,
			Contexts: &everywhere, IntegrationTypes: &installed, Options: options,
		})
	}
	return all
}

// register has Discord offer the commands, until it does or will not.
func (d *Discord) register(ctx context.Context, app string) {
	for failures := 0; ; failures++ {
		err := d.offer(ctx, "/applications/"+url.PathEscape(app)+"/commands")
		var no *chat.Refused
		if errors.As(err, &no) {
			d.cfg.Log.WarnContext(ctx, "Discord does not take the bot's commands", "error", err)
			return
		}
		if err == nil || !sleep(ctx, d.pause(err, failures)) {
			return
		}
	}
}

// offer replaces all commands, if they are others.
func (d *Discord) offer(ctx context.Context, path string) error {
	var offered []*discordgo.ApplicationCommand
	if err := d.do(ctx, http.MethodGet, path, nil, &offered); err != nil {
		return refusal(err, "", "")
	}
	if describe(offered) == describe(commands()) {
		return nil
	}
	return refusal(d.do(ctx, http.MethodPut, path, commands(), nil), "", "")
}

// describe is a text of the commands to compare them by, in any order.
func describe(all []*discordgo.ApplicationCommand) string {
	var lines []string
	for _, c := range all {
		if c != nil {
			lines = append(lines, c.Name+": "+c.Description+"\n")
			for _, o := range c.Options {
				lines = append(lines, c.Name+" "+o.Name+": "+o.Description+"\n")
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
