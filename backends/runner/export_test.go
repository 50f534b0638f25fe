package runner

// Grace is how long a runner may be late.
const Grace = grace
