"""When two measures, or two parameter sets, disagree about which list or system is better."""
