// Before anything is painted: the theme that was chosen, else the system's.
try {
  const theme = localStorage.getItem('bailiff-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch { /* a browser that keeps nothing has the system's */ }
