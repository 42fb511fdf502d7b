package notify

import (
	"context"
	"errors"
	"time"
)

// Dispatcher tries a reader's channels in order and puts aside what none of them could deliver.
type Dispatcher struct {
	Channels []Channel
	Attempts int
	Pause    time.Duration
	Undelivered func(Message)
}

// Dispatch delivers by the first channel that works. A channel that fails for a moment is tried again with
// a doubled pause; one that can never work is left at once.
func (d *Dispatcher) Dispatch(ctx context.Context, to Address, message Message) error {
	var last error
	for _, channel := range d.Channels {
		if last = d.persist(ctx, channel, to, message); last == nil {
			return nil
		}
	}
	d.Undelivered(message)
	return last
}

func (d *Dispatcher) persist(ctx context.Context, channel Channel, to Address, message Message) error {
	pause := d.Pause
	for attempt := 1; ; attempt++ {
		err := channel.Deliver(ctx, to, message)
		if err == nil || errors.Is(err, ErrUnreachable) || attempt == d.Attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			pause *= 2
		}
	}
}
