package explain

// MostNearly bounds the rules that are shown.
const MostNearly = mostNearly
