module judge

go 1.24
