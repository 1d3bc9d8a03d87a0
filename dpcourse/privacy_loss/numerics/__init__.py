"""How sums of losses are computed: exactly, on lattices, by tilted Fourier transforms."""
