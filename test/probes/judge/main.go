// Says what Go's client makes of the raw answers that come as JSON on the standard input: once as the
// kubelet probes, with its rule for redirects, and once as a scrape reads.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type answer struct{ Name, Raw string }

type verdict struct {
	Probe  int    `json:"probe"`
	Scrape string `json:"scrape"`
}

var pad = regexp.MustCompile(`\{(\d+)( headers)?\}`)

// The bytes of an answer: each sign is one byte.
func bytesOf(raw string, port int) []byte {
	text := strings.ReplaceAll(raw, "{PORT}", strconv.Itoa(port))
	text = pad.ReplaceAllStringFunc(text, func(found string) string {
		parts := pad.FindStringSubmatch(found)
		count, _ := strconv.Atoi(parts[1])
		if parts[2] == "" {
			return strings.Repeat("x", count)
		}
		var lines strings.Builder
		for line := range count {
			fmt.Fprintf(&lines, "X-%d: a\r\n", line)
		}
		return lines.String()
	})
	bytes := make([]byte, 0, len(text))
	for _, sign := range text {
		bytes = append(bytes, byte(sign))
	}
	return bytes
}

const next = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 2\n"

func serve(raw string) (int, func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				var question []byte
				buffer := make([]byte, 4096)
				for !strings.Contains(string(question), "\r\n\r\n") {
					count, err := connection.Read(buffer)
					if err != nil {
						return
					}
					question = append(question, buffer[:count]...)
				}
				said := bytesOf(raw, port)
				if strings.HasPrefix(string(question), "GET /next") {
					said = []byte(next)
				}
				connection.Write(said)
				connection.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, connection)
			}()
		}
	}()
	return port, func() { listener.Close() }
}

func transport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DisableCompression: true, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}
}

// The kubelet follows what leads to the same host, and takes what leads elsewhere as it is.
func redirected(request *http.Request, via []*http.Request) error {
	if request.URL.Hostname() != via[0].URL.Hostname() {
		return http.ErrUseLastResponse
	}
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// The status; 200 for a redirect that is not followed, and 500 without an answer.
func probe(port int) int {
	client := http.Client{Transport: transport(), Timeout: 5 * time.Second, CheckRedirect: redirected}
	response, err := client.Get(fmt.Sprintf("http://localhost:%d/app/ready", port))
	if err != nil {
		return 500
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return 200
	}
	return response.StatusCode
}

// The status, whether rows came, and whether all of them did.
func scrape(port int) string {
	client := http.Client{Transport: transport(), Timeout: 5 * time.Second}
	response, err := client.Get(fmt.Sprintf("http://localhost:%d/app/metrics", port))
	if err != nil {
		return "no answer"
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if response.StatusCode != 200 {
		return "status"
	}
	if err != nil {
		return "cut off"
	}
	if strings.HasPrefix(string(body), "up ") {
		return "rows"
	}
	return "no rows"
}

func main() {
	var answers []answer
	if err := json.NewDecoder(os.Stdin).Decode(&answers); err != nil {
		panic(err)
	}
	verdicts := map[string]verdict{}
	for _, each := range answers {
		port, stop := serve(each.Raw)
		verdicts[each.Name] = verdict{probe(port), scrape(port)}
		stop()
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.Encode(verdicts)
}
