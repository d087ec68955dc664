/** Tools in Go. A marker in the project lets a test pass when it is run again. */
import type { Tool } from './tool.ts';

const CART = `package cart
import ("errors"; "fmt"; "os"; "testing")
func TestAdds(t *testing.T) {}
func TestPays(t *testing.T) {
	if _, err := os.Stat("paid"); errors.Is(err, os.ErrNotExist) { os.WriteFile("paid", nil, 0o600); t.Fatal("no courier") }
}
func TestShips(t *testing.T) { t.Error("never") }
func TestLater(t *testing.T) { t.Skip("no") }
func TestRows(t *testing.T) {
	for _, n := range []int{1, 2} { t.Run(fmt.Sprint("row ", n), func(t *testing.T) { if n == 2 { t.Fatal("two") } }) }
}
func TestSame(t *testing.T) {
	t.Run("same", func(t *testing.T) {})
	t.Run("same", func(t *testing.T) { t.Fatal("another") })
}
func TestPrints(t *testing.T) { fmt.Print("50% "); t.Log("logged") }
func Example() { fmt.Println("two"); // Output: one
}
`;
const PANICS = `package panics
import "testing"
func TestBefore(t *testing.T) {}
func TestPanics(t *testing.T) { var m map[string]int; m["a"] = 1 }
func TestAfter(t *testing.T) {}
`;
const EXITS = `package exits
import ("os"; "testing")
func TestBefore(t *testing.T) {}
func TestExits(t *testing.T) { os.Exit(3) }
func TestAfter(t *testing.T) {}
`;
const OTHER = 'package courier\nimport "testing"\nfunc TestAdds(t *testing.T) { t.Fatal("other") }\n';
const BROKEN = 'package broken\nimport "testing"\nfunc TestNever(t *testing.T) { undefined() }\n';

const FILES = {
  'go.mod': 'module example.com/shop\n\ngo 1.24\n',
  'cart/cart_test.go': CART,
  'courier/courier_test.go': OTHER,
  'panics/panics_test.go': PANICS,
  'exits/exits_test.go': EXITS,
  'broken/broken_test.go': BROKEN,
};

export const go: Tool = {
  name: 'go test',
  version: 'Go 1.27.3',
  from: 'go',
  files: FILES,
  reports: [
    {
      fixture: 'go-test/shop-1.27.json',
      command: ['go', 'test', '-p', '1', '-json', './...'],
    },
    {
      fixture: 'go-test/shop-1.27-count.json',
      command: ['go', 'test', '-json', '-count=2', '-v', './cart'],
    },
  ],
};

export const gotestsum: Tool = {
  name: 'gotestsum',
  version: '1.13.0, Go 1.27.3',
  from: 'go',
  files: FILES,
  reports: [
    {
      fixture: 'go-test/gotestsum-1.13.json',
      command: [
        'gotestsum',
        '--jsonfile=report.json',
        '--junitfile=report.xml',
        '--rerun-fails=2',
        '--rerun-fails-max-failures=99',
        '--packages=./cart ./courier',
      ],
      file: 'report.json',
    },
    {
      fixture: 'junit/gotestsum-1.13.xml',
      command: [
        'sh',
        '-c',
        'rm -f cart/paid; exec "$0" "$@"',
        'gotestsum',
        '--junitfile=report.xml',
        '--rerun-fails=2',
        '--rerun-fails-max-failures=99',
        '--packages=./cart ./courier',
      ],
      file: 'report.xml',
    },
    {
      fixture: 'junit/gotestsum-1.13-crash.xml',
      command: ['gotestsum', '--junitfile=report.xml', '--packages=./panics ./exits ./broken'],
      file: 'report.xml',
    },
  ],
};
