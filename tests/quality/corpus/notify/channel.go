// Package notify tells readers what they should know, by the way that they chose.
package notify

import "context"

// Message is what one reader is told once.
type Message struct {
	Card    string
	Subject string
	Body    string
}

// Channel is a way to reach a reader. Deliver returns ErrUnreachable when trying again is of no use.
type Channel interface {
	Name() string
	Deliver(ctx context.Context, to Address, message Message) error
}

// Address is where a reader can be reached; empty fields are unknown.
type Address struct {
	Email  string
	Phone  string
	Street string
}
