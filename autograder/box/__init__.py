"""The sandbox: how students' code is kept in, and how it is talked to. A security review reads this folder."""
