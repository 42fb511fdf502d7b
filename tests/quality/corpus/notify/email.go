package notify

import (
	"context"
	"errors"
	"net/smtp"
	"strings"
)

// ErrUnreachable means that the reader has no such address, or that it is refused for good.
var ErrUnreachable = errors.New("PL-301: reader cannot be reached this way")

// EmailChannel sends plain text through the town's mail relay.
type EmailChannel struct {
	Relay string
	From  string
}

func (c EmailChannel) Name() string { return "email" }

// Deliver hands the message to the relay.
func (c EmailChannel) Deliver(ctx context.Context, to Address, message Message) error {
	if !strings.Contains(to.Email, "@") {
		return ErrUnreachable
	}
	body := "Subject: " + message.Subject + "\r\n\r\n" + message.Body
	return smtp.SendMail(c.Relay, nil, c.From, []string{to.Email}, []byte(body))
}
