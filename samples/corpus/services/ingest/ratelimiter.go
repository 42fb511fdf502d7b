// Package ingest accepts readings from gateways.
package ingest

import (
	"sync"
	"time"
)

// Limiter lets every gateway send a steady number of requests, and a short burst after a silence.
// Each gateway has a bucket that fills with time; a request takes one token out of it.
type Limiter struct {
	perMinute float64
	burst     float64
	now       func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	filled time.Time
}

// NewLimiter returns a limiter for perMinute requests a minute with bursts of at most burst requests.
func NewLimiter(perMinute, burst float64) *Limiter {
	return &Limiter{perMinute: perMinute, burst: burst, now: time.Now, buckets: map[string]*bucket{}}
}

// Allow reports whether the gateway may send now and, if not, how long it should wait.
func (l *Limiter) Allow(gateway string) (bool, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.now()
	b, known := l.buckets[gateway]
	if !known {
		b = &bucket{tokens: l.burst, filled: now}
		l.buckets[gateway] = b
	}
	b.tokens = min(l.burst, b.tokens+now.Sub(b.filled).Minutes()*l.perMinute)
	b.filled = now
	if b.tokens >= 1 {
		b.tokens--
		return true, 0
	}
	missing := (1 - b.tokens) / l.perMinute
	return false, time.Duration(missing * float64(time.Minute))
}

// Forget drops buckets that have been full for an hour, so that gone gateways take no memory.
func (l *Limiter) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for gateway, b := range l.buckets {
		if l.now().Sub(b.filled) > time.Hour {
			delete(l.buckets, gateway)
		}
	}
}
