package discordtest

import (
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// AwaitConnected waits until so many sessions have begun and been resumed.
func (s *Server) AwaitConnected(began, resumed int) {
	s.tb.Helper()
	s.wait(func() string {
		s.Lock()
		defer s.Unlock()
		return strconv.Itoa(s.began) + " sessions began, " + strconv.Itoa(s.resumed) + " were resumed, want " + strconv.Itoa(began) +
			" and " + strconv.Itoa(resumed)
	}, chattest.Patience(s.tb), func() bool { return s.began == began && s.resumed == resumed })
}

// Beats sets how often the bot is to send a heartbeat, from its next connection on.
func (s *Server) Beats(every time.Duration) { s.Change(func() { s.interval = every }) }

// Mute has the gateway say nothing to heartbeats, as if there were none.
func (s *Server) Mute(mute bool) { s.Change(func() { s.mute = mute }) }

// each does something to every connection, without waiting for what it does there.
func (s *Server) each(do func(*line)) {
	s.Lock()
	lines := s.lines
	s.Unlock()
	for _, l := range lines {
		do(l)
	}
}

// Drop breaks the gateway's connections without a word.
func (s *Server) Drop() { s.each(func(l *line) { l.ws.Close() }) }

// Close ends them with a code.
func (s *Server) Close(code int) { s.each(func(l *line) { l.close(code, "") }) }

// Reconnect asks the bot to connect again.
func (s *Server) Reconnect() { s.each(func(l *line) { l.say(7, nil, "", 0) }) }

// Invalidate tells the bot that its session has ended, or that it may be resumed.
func (s *Server) Invalidate(resumable bool) {
	if !resumable {
		s.Forget()
	}
	s.each(func(l *line) { l.say(9, resumable, "", 0) })
}

// AskBeat asks the bot for a heartbeat at once.
func (s *Server) AskBeat() { s.each(func(l *line) { l.say(1, nil, "", 0) }) }

// Garble sends what is no event.
func (s *Server) Garble(text string) { s.each(func(l *line) { l.raw(text) }) }

// Repeat tells the last event of a name once more.
func (s *Server) Repeat(event string) {
	s.Lock()
	defer s.Unlock()
	for _, to := range s.sessions {
		for i := len(to.told) - 1; i >= 0; i-- {
			if to.told[i].event == event {
				s.give(to, event, to.told[i].data)
				break
			}
		}
	}
}
