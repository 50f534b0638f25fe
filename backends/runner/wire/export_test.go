package wire

// Fairness is how many frames of the first lane may pass one of the second.
const Fairness = fairness

// Busy says whether a frame is being written.
func (w *Writer) Busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy
}

// Waiting counts the frames of each lane that wait for their turn.
func (w *Writer) Waiting() (first, second int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting[urgent], w.waiting[patient]
}
