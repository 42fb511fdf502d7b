package notify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// LetterChannel lays letters into a folder that the print shop empties every morning.
type LetterChannel struct {
	Outbox string
}

func (c LetterChannel) Name() string { return "letter" }

// Deliver writes the letter as a text file named after the reader's card.
func (c LetterChannel) Deliver(_ context.Context, to Address, message Message) error {
	if strings.TrimSpace(to.Street) == "" {
		return ErrUnreachable
	}
	text := to.Street + "\n\n" + message.Subject + "\n\n" + message.Body + "\n"
	return os.WriteFile(filepath.Join(c.Outbox, message.Card+".txt"), []byte(text), 0o600)
}
