"""What commands share: options, inputs, and how results and errors are printed."""
