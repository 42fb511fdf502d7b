package notify

import (
	"context"
	"errors"
	"testing"
)

type brokenChannel struct{ calls int }

func (c *brokenChannel) Name() string { return "broken" }

func (c *brokenChannel) Deliver(context.Context, Address, Message) error {
	c.calls++
	return errors.New("try later")
}

func TestDispatchPutsAsideWhatNoChannelDelivers(t *testing.T) {
	broken := &brokenChannel{}
	var aside []Message
	d := Dispatcher{Channels: []Channel{broken}, Attempts: 3, Undelivered: func(m Message) { aside = append(aside, m) }}
	if err := d.Dispatch(context.Background(), Address{}, Message{Card: "R-1"}); err == nil {
		t.Fatal("a failing channel is reported")
	}
	if broken.calls != 3 || len(aside) != 1 {
		t.Fatalf("tried %d times, put aside %d messages", broken.calls, len(aside))
	}
}
