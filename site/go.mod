module github.com/bailiff-dev/bailiff/site

go 1.26.4

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/yuin/goldmark v1.8.7
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
