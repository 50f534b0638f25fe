package state

// News is what of a step of another sidecar is not part of the state, with what the observer hears of it.
func (s *State) News(t Step) Step {
	t = s.unknown(t)
	for _, i := range t.Items {
		platform := i.Entry.Request.Session.Platform
		switch was := s.items[i.Entry.ID]; {
		case i.Pending() && was == nil:
			t.told = append(t.told, func(o Observer) { o.ApprovalOpened(platform) })
		case !i.Pending() && was != nil && was.Pending():
			t.told = append(t.told, func(o Observer) { o.ApprovalEndedElsewhere(platform) })
		}
	}
	return t
}

// unknown is what of a step is not part of the state.
func (s *State) unknown(t Step) (news Step) {
	for _, i := range t.Items {
		if was := s.items[i.Entry.ID]; was == nil || was.Version < i.Version {
			news.Items = append(news.Items, i)
		}
	}
	for _, i := range t.Pruned {
		if was := s.items[i.Entry.ID]; was != nil {
			news.Pruned = append(news.Pruned, was)
		}
	}
	for _, h := range t.Grants {
		if was := s.grants[h.Grant.ID]; was == nil || was.Version < h.Version {
			news.Grants = append(news.Grants, h)
		}
	}
	for _, h := range t.Ended {
		if s.grants[h.Grant.ID] != nil {
			news.Ended = append(news.Ended, h)
		}
	}
	for _, f := range t.Frozen {
		if was, known := s.freezes[freezeKey{f.Kind, f.ID}]; !known || !was.is(f) {
			news.Frozen = append(news.Frozen, f)
		}
	}
	for _, f := range t.Thawed {
		if _, known := s.freezes[freezeKey{f.Kind, f.ID}]; known {
			news.Thawed = append(news.Thawed, f)
		}
	}
	return news
}

// IsMarked says whether a step changes what a store must not lose.
func (t *Step) IsMarked() bool {
	for _, i := range t.Items {
		if !i.Pending() {
			return true
		}
	}
	return len(t.Grants)+len(t.Ended)+len(t.Frozen)+len(t.Thawed) > 0
}
