package console

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/login"
)

const (
	// maxDevices is how many logins on command lines may wait for their people; the oldest ends for another.
	maxDevices = 50
	// deviceWait is how long one question waits for the person.
	deviceWait = 20 * time.Second
)

// devices are the logins on command lines that have begun.
type devices struct {
	begun pace

	mu    sync.Mutex
	known map[hashed]Device
}

func (d *devices) add(device Device) (secret string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = map[hashed]Device{}
	}
	var oldest hashed
	for key, other := range d.known {
		if !time.Now().Before(other.Expires) {
			delete(d.known, key)
		} else if first, ok := d.known[oldest]; !ok || other.Expires.Before(first.Expires) {
			oldest = key
		}
	}
	if len(d.known) >= maxDevices {
		delete(d.known, oldest)
	}
	secret = newSecret()
	d.known[hash(secret)] = device
	return secret
}

func (d *devices) find(secret string) (Device, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	device, ok := d.known[hash(secret)]
	return device, ok && time.Now().Before(device.Expires)
}

// drop says whether it was there: of those who ask at once, one gets the login.
func (d *devices) drop(secret string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.known[hash(secret)]
	delete(d.known, hash(secret))
	return ok
}

func (c *Console) beginDevice(w http.ResponseWriter, r *http.Request) {
	if refuseEarly(w, c.devices.begun.wait(time.Now()), "Too many logins are begun; try again in a moment.") {
		return
	}
	device, err := c.config.Provider.BeginDevice(r.Context())
	if err != nil {
		refuse(w, c.noteRefusal(bailiff.LoginDevice, err), "login_refused", bailiff.Sentence(err.Error()))
		return
	}
	send(w, http.StatusOK, api.DeviceLogin{URL: device.URL, Complete: device.Complete, Code: device.Code, ExpiresAt: device.Expires,
		Device: c.devices.add(device)})
}

func (c *Console) awaitDevice(w http.ResponseWriter, r *http.Request) {
	var sent api.DeviceWait
	if !read(w, r, &sent, `This takes {"device": "…"}.`) {
		return
	}
	device, known := c.devices.find(sent.Device)
	if !known {
		refuse(w, http.StatusForbidden, "login_refused", "There is no such login, or its code has expired; run \"bailiff login\" again.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), deviceWait)
	defer cancel()
	who, err := device.Await(ctx)
	if errors.Is(err, login.ErrPending) {
		send(w, http.StatusOK, api.DeviceLoggedIn{})
		return
	}
	if err == nil && !c.devices.drop(sent.Device) {
		err = login.ErrRefused
	}
	if err != nil {
		if !errors.Is(err, login.ErrUnavailable) {
			c.devices.drop(sent.Device)
		}
		refuse(w, c.noteRefusal(bailiff.LoginDevice, err), "login_refused", bailiff.Sentence(err.Error()))
		return
	}
	c.enterDevice(w, who)
}

func (c *Console) enterDevice(w http.ResponseWriter, who bailiff.Approver) {
	operator, ok := c.operator(w, who)
	if !ok {
		return
	}
	s, token := c.sessions.beginBare(who, operator, c.maxAge(who), time.Now())
	if !c.stays(w, s) {
		return
	}
	c.countLogin(who)
	send(w, http.StatusOK, api.DeviceLoggedIn{Token: token, Person: who.Person, Credential: who.Credential, ExpiresAt: s.last})
}
