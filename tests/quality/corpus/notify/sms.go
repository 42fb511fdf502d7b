package notify

import (
	"context"
	"fmt"
	"unicode/utf8"
)

const longestText = 160

// TextGateway is the telephone company's side.
type TextGateway interface {
	Submit(ctx context.Context, phone, text string) (string, error)
}

// SMSChannel sends short texts; what is longer than one text is cut with an ellipsis.
type SMSChannel struct {
	Gateway TextGateway
}

func (c SMSChannel) Name() string { return "sms" }

// Deliver submits the subject and body as a single text message.
func (c SMSChannel) Deliver(ctx context.Context, to Address, message Message) error {
	if to.Phone == "" {
		return ErrUnreachable
	}
	_, err := c.Gateway.Submit(ctx, to.Phone, shorten(message.Subject+": "+message.Body))
	if err != nil {
		return fmt.Errorf("PL-302: text gateway refused: %w", err)
	}
	return nil
}

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= longestText {
		return text
	}
	return string([]rune(text)[:longestText-1]) + "…"
}
